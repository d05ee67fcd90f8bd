import { chainChecks } from "./chain-checks.ts";
import { chainClockChecks, databaseClockChecks } from "./clock-checks.ts";
import { databaseChecks, openCheck, redisCheck } from "./database-checks.ts";
import { governanceChecks } from "./governance-checks.ts";
import type { HealthCheck, HealthNetwork, HealthSubject } from "./health-check.ts";
import { outboxChecks } from "./outbox-checks.ts";
import { priceChecks } from "./price-checks.ts";
import { processChecks } from "./process-checks.ts";
import { treasuryChecks } from "./treasury-checks.ts";

/**
 * Returns all checks. `tss doctor` runs all of them, and readiness runs those with a `readiness`. With several
 * networks, the name of a network's check begins with the network.
 */
export function healthChecks(subject: HealthSubject): HealthCheck[] {
  return [
    ...processChecks(subject.config),
    ...databaseChecks(subject),
    ...subject.networks.flatMap((network) => networkChecks(subject, network)),
    redisCheck(subject),
    ...databaseClockChecks(subject),
  ];
}

function networkChecks(subject: HealthSubject, network: HealthNetwork): HealthCheck[] {
  const { database } = subject;
  const { name } = network.config;
  const both = { ...network, database };
  const isAlone = subject.networks.length === 1;
  const checks = [
    ...(isAlone ? [] : openCheck(network)),
    ...chainChecks(both),
    ...treasuryChecks(both),
    ...governanceChecks(network.chain),
    ...outboxChecks(both, subject),
    ...priceChecks(both),
    ...chainClockChecks(network),
  ];
  return isAlone ? checks : checks.map((check) => ({ ...check, name: `${name} ${check.name}` }));
}
