import { readAnnouncedNetwork } from "../../chain/announced-network.ts";
import { type ConfigReading, readConfig } from "../../config/config.ts";
import { createRedact } from "../../telemetry/redact.ts";
import { type NamedFinding, once, runChecks } from "../checks/health-check.ts";
import { healthChecks } from "../checks/health-checks.ts";
import { reachable } from "../checks/health-subject.ts";
import { askRedis } from "./ask-redis.ts";
import { findAccess, openDoctorChain } from "./doctor-chain.ts";
import { openDoctorDatabase } from "./doctor-database.ts";

/**
 * Checks everything that the service needs, and changes nothing. Works with or without a running service. If the
 * configuration is invalid, returns only its faults. Throws if `only` is not a configured network.
 */
export async function runDoctor(
  environment?: NodeJS.ProcessEnv,
  { timeoutMs = DEFAULT_TIMEOUT_MS, only }: DoctorOptions = {},
): Promise<NamedFinding[]> {
  const reading = readConfig(environment);
  const evaluated = evaluate(reading);
  if (reading.faults.length > 0) return evaluated;
  const { config } = reading;
  const networks = config.networks.filter(({ name }) => only === undefined || name === only);
  if (networks.length === 0) throw new Error(`${only} is not a network of NETWORKS`);
  const database = once(() => openDoctorDatabase(config));
  const subject = {
    config,
    isRunning: false,
    database,
    networks: networks.map((network) => ({
      config: network,
      chain: openDoctorChain(network, async () => {
        const access = await findAccess(network);
        if (access.hotWalletSecret !== undefined) return access;
        // An api process knows the wallets by what another process announced.
        return {
          ...access,
          walletAddresses: await readAnnouncedNetwork(await reachable({ database }), network.name),
        };
      }),
    })),
    askRedis: () => askRedis(config.redisUrl!),
  };
  try {
    const findings = await runChecks(healthChecks(subject), timeoutMs);
    const redact = createRedact(reading.secrets);
    // A failure may quote a URL.
    return [...evaluated, ...findings.map((finding) => ({ ...finding, found: redact(finding.found) }))];
  } finally {
    await database().then(
      (opened) => opened.close(),
      () => undefined,
    );
  }
}

/** Options of {@link runDoctor}. */
export interface DoctorOptions {
  /** The time limit of each check. Default 15 s. */
  readonly timeoutMs?: number;
  /** The only network to check, with everything that the networks share. Default: every network of NETWORKS. */
  readonly only?: string | undefined;
}

const DEFAULT_TIMEOUT_MS = 15_000;

function evaluate({ config, faults, warnings }: ConfigReading): NamedFinding[] {
  const name = "configuration";
  if (faults.length > 0) {
    const advice = "set the variable; `tss config` prints the effective values";
    return faults.map((found) => ({ name, status: "fail", found, advice }));
  }
  const good: NamedFinding = {
    name,
    status: "ok",
    found: `for ${config.networks.map((network) => network.name).join(" and ")}`,
  };
  const advice = "see docs/operations/deploy.md, Configuration";
  return warnings.length === 0
    ? [good]
    : warnings.map((found): NamedFinding => ({ name, status: "warn", found, advice }));
}
