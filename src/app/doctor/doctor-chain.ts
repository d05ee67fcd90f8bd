import { SuiGrpcClient } from "@mysten/sui/grpc";
import { type ChainNetwork, connectNetwork, type NetworkOptions } from "../../chain/network.ts";
import type { Config } from "../../config.ts";
import { openChainAccess } from "../chain-access.ts";
import { NotChecked, once } from "./doctor-check.ts";

/** The chain as the checks look at it, each part made at its first need. */
export interface DoctorChain {
  /** Where it is and as whom. Throws {@link NotChecked} where the network comes and goes with the service. */
  access(): Promise<NetworkOptions>;
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
      return new SuiGrpcClient({ network: name, baseUrl, format: "binary", fetch: fetchInTime });
    }),
    network: once(async () => connectNetwork({ ...(await access()), fetch: fetchInTime })),
  };
}

/** Where the configured network is and as whom. Starts nothing. */
export async function findAccess(config: Config): Promise<NetworkOptions> {
  const { network } = config;
  const isEmbedded = network.name === "localnet" && network.url === undefined;
  const found = isEmbedded ? { ...network, url: `http://127.0.0.1:${network.port}` } : network;
  try {
    return await openChainAccess({ ...config, network: found }, STARTS_NOTHING);
  } catch (error) {
    if (isEmbedded)
      throw new NotChecked("the embedded localnet runs only with the service, and none is there");
    throw error;
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

const STARTS_NOTHING = {
  lifecycle: {
    start(name: string): never {
      throw new Error(`${name} is not to be started`);
    },
  },
  log: { info() {} },
};
