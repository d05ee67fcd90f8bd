import { SuiGrpcClient } from "@mysten/sui/grpc";
import { type ChainNetwork, connectNetwork, type NetworkAccess } from "../../chain/network.ts";
import type { Config } from "../../config/config.ts";
import { readChainKeys, readLocalnetAccess, readNetworkAccess } from "../../config/network-access.ts";
import { systemClock } from "../../lifecycle/clock.ts";
import { NotChecked, once } from "./doctor-check.ts";

/** The chain as the checks look at it, each part made at its first need. */
export interface DoctorChain {
  /** Where it is and as whom. Throws {@link NotChecked} where the network comes and goes with the service. */
  access(): Promise<NetworkAccess>;
  /** A bare client, which asks nothing by itself. */
  client(): Promise<SuiGrpcClient>;
  /** With Ika's objects and the Treasury found. */
  network(): Promise<ChainNetwork>;
}

/** Starts nothing: an embedded localnet is looked for at its port. */
export function openDoctorChain(config: Config): DoctorChain {
  const access = once(() => findAccess(config));
  return {
    access,
    client: once(async () => {
      const { name, fullnodeUrl } = await access();
      const baseUrl = fullnodeUrl.reveal();
      return new SuiGrpcClient({
        network: name,
        baseUrl,
        format: "binary",
        fetch: fetchInTime,
        clock: systemClock,
      });
    }),
    network: once(async () =>
      connectNetwork({ ...(await access()), fetch: fetchInTime, clock: systemClock }),
    ),
  };
}

/** Where the configured network is and which keys act there. Looks for an embedded localnet at its port. */
export async function findAccess(config: Config): Promise<NetworkAccess> {
  const access = await readNetworkAccess(config);
  if (access !== undefined) return access;
  const { network } = config;
  if (network.name !== "localnet") throw new Error(`${network.name} cannot be embedded`);
  try {
    return await readLocalnetAccess(`http://127.0.0.1:${network.port}`, readChainKeys(config));
  } catch {
    throw new NotChecked("the embedded localnet runs only with the service, and the service is not running");
  }
}

const CALL_TIMEOUT_MS = 10_000;

/** A fetch whose calls do not outlive the checks, or a fullnode that hangs would keep the process from its end. */
export const fetchInTime: typeof fetch = (input, init) => {
  const deadline = AbortSignal.timeout(CALL_TIMEOUT_MS);
  return fetch(input, {
    ...init,
    signal: init?.signal ? AbortSignal.any([init.signal, deadline]) : deadline,
  });
};
