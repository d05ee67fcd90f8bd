import type { NetworkAccess } from "../../chain/network.ts";
import type { NetworkConfig } from "../../config/networks.ts";
import type { Queryable } from "../../store/database.ts";
import { chainChecks } from "../checks/chain-checks.ts";
import { runChecks } from "../checks/health-check.ts";
import { treasuryChecks } from "../checks/treasury-checks.ts";
import { openDoctorChain } from "./doctor-chain.ts";

/**
 * Returns the error for a startup that could not use its chain, with the findings of `tss doctor` about fullnode, chain
 * and Treasury. Returns the cause itself if the doctor finds nothing wrong with them.
 */
export async function explainChainFailure(
  cause: unknown,
  { network, access, db }: FailedChain,
): Promise<unknown> {
  const subject = {
    config: network,
    chain: openDoctorChain(network, access),
    database: async () => ({ kind: "postgres" as const, db }),
  };
  const checks = [...chainChecks(subject), ...treasuryChecks(subject)];
  const faults = (await runChecks(checks, TIMEOUT_MS)).filter(({ status }) => status === "fail");
  if (faults.length === 0) return cause;
  const lines = faults.flatMap(({ name, found, advice }) => [
    `  ${name}: ${found}`,
    ...(advice === undefined ? [] : [`    -> ${advice}`]),
  ]);
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(`the chain cannot be used: ${why}\n${lines.join("\n")}`, { cause });
}

export interface FailedChain {
  readonly network: NetworkConfig;
  /** Default: the configured access. */
  readonly access?: () => Promise<NetworkAccess>;
  readonly db: Queryable;
}

const TIMEOUT_MS = 15_000;
