import { chainChecks } from "./chain-checks.ts";
import { clockChecks } from "./clock-checks.ts";
import { databaseChecks } from "./database-checks.ts";
import type { HealthCheck } from "./health-check.ts";
import type { HealthSubject } from "./health-subject.ts";
import { outboxChecks } from "./outbox-checks.ts";
import { processChecks } from "./process-checks.ts";
import { redisCheck } from "./redis-check.ts";
import { treasuryChecks } from "./treasury-checks.ts";

/** The one list of checks: `tss doctor` runs all of them, and readiness those with a `readiness`. */
export function healthChecks(subject: HealthSubject): HealthCheck[] {
  return [
    ...processChecks(subject.config),
    ...databaseChecks(subject),
    ...chainChecks(subject),
    ...treasuryChecks(subject),
    ...outboxChecks(subject),
    redisCheck(subject),
    ...clockChecks(subject),
  ];
}
