import { SuiGrpcClient } from "@mysten/sui/grpc";
import { connectNetwork, type NetworkAccess } from "../../../chain/fullnodes/network.ts";
import { readChainKeys, readLocalnetAccess, readNetworkAccess } from "../../../config/network-access.ts";
import type { NetworkConfig } from "../../../config/networks.ts";
import { systemClock } from "../../../platform/lifecycle/clock.ts";
import type { Queryable } from "../../../platform/store/database.ts";
import { chainChecks } from "../checks/chain-checks.ts";
import { type HealthChain, NotChecked, once, runChecks } from "../checks/health-check.ts";
import { treasuryChecks } from "../checks/treasury-checks.ts";
import { fetchInTime } from "../fetch-in-time.ts";

/** Opens a configured chain for the checks. Does not start an embedded localnet, but looks for one at its port. */
export function openDoctorChain(
  network: NetworkConfig,
  openAccess: () => Promise<NetworkAccess> = () => findAccess(network),
): HealthChain {
  const access = once(openAccess);
  return {
    access,
    client: once(async () => {
      const { name, fullnodeUrl, fetch } = await access();
      const baseUrl = fullnodeUrl.reveal();
      return new SuiGrpcClient({
        network: name,
        baseUrl,
        format: "binary",
        fetch: fetchInTime(fetch),
        clock: systemClock,
      });
    }),
    network: once(async () => {
      const found = await access();
      return connectNetwork({ ...found, fetch: fetchInTime(found.fetch), clock: systemClock });
    }),
  };
}

/** Returns the configured network and its keys. Looks for an embedded localnet at its port. */
export async function findAccess(network: NetworkConfig): Promise<NetworkAccess> {
  const access = await readNetworkAccess(network);
  if (access !== undefined) return access;
  const { address } = network;
  if (address.name !== "localnet") throw new Error(`${address.name} cannot be embedded`);
  try {
    return await readLocalnetAccess(`http://127.0.0.1:${address.port}`, readChainKeys(network));
  } catch {
    throw new NotChecked("the embedded localnet runs only with the service, and the service is not running");
  }
}

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

interface FailedChain {
  readonly network: NetworkConfig;
  /** Default: the configured access. */
  readonly access?: () => Promise<NetworkAccess>;
  readonly db: Queryable;
}

const TIMEOUT_MS = 15_000;
