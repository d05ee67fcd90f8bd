import { SuiGrpcClient } from "@mysten/sui/grpc";
import { connectNetwork, type NetworkAccess } from "../../chain/network.ts";
import { readChainKeys, readLocalnetAccess, readNetworkAccess } from "../../config/network-access.ts";
import type { NetworkConfig } from "../../config/networks.ts";
import { systemClock } from "../../lifecycle/clock.ts";
import { NotChecked, once } from "../checks/health-check.ts";
import type { HealthChain } from "../checks/health-subject.ts";
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
