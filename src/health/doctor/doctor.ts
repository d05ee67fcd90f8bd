import { type ConfigReading, readConfig } from "../../config/config.ts";
import { createRedact } from "../../telemetry/redact.ts";
import { chainChecks } from "./chain-checks.ts";
import { clockChecks } from "./clock-check.ts";
import { databaseChecks } from "./database-checks.ts";
import { openDoctorChain } from "./doctor-chain.ts";
import { type NamedFinding, once, runChecks } from "./doctor-check.ts";
import { openDoctorDatabase } from "./doctor-database.ts";
import { processChecks } from "./process-checks.ts";
import { redisCheck } from "./redis-check.ts";
import { treasuryChecks } from "./treasury-checks.ts";

/** How the doctor looks. */
export interface DoctorOptions {
  /** For each check. Default 15 s. */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 15_000;

/**
 * Looks at everything that the service needs and changes nothing, beside a running service or without one. A wrong
 * configuration is reported fault by fault, and ends the checks.
 */
export async function runDoctor(
  environment?: NodeJS.ProcessEnv,
  { timeoutMs = DEFAULT_TIMEOUT_MS }: DoctorOptions = {},
): Promise<NamedFinding[]> {
  const reading = readConfig(environment);
  const judged = judge(reading);
  if (reading.faults.length > 0) return judged;
  const { config } = reading;
  const database = once(() => openDoctorDatabase(config));
  const chain = openDoctorChain(config);
  try {
    const findings = await runChecks(
      [
        ...processChecks(config),
        ...databaseChecks(config, database),
        redisCheck(config),
        ...chainChecks(chain, database),
        ...treasuryChecks(chain, database),
        ...clockChecks(chain, database),
      ],
      timeoutMs,
    );
    const redact = createRedact(reading.secrets);
    // A failure may quote the URL that it failed at.
    return [...judged, ...findings.map((finding) => ({ ...finding, found: redact(finding.found) }))];
  } finally {
    await database().then(
      (opened) => opened.close(),
      () => undefined,
    );
  }
}

function judge({ config, faults, warnings }: ConfigReading): NamedFinding[] {
  const name = "configuration";
  if (faults.length > 0) {
    const advice = "set the variable; `tss config` prints the effective values";
    return faults.map((found) => ({ name, status: "fail", found, advice }));
  }
  const good: NamedFinding = { name, status: "ok", found: `for ${config.network.name}` };
  const advice = "see docs/operations/deploy.md, Configuration";
  return warnings.length === 0
    ? [good]
    : warnings.map((found): NamedFinding => ({ name, status: "warn", found, advice }));
}
