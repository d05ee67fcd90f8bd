import type { IkaConfig } from "@ika.xyz/sdk";
import type { JsonRoute } from "./fullnode/server.ts";
import type { LocalnetTreasury } from "./local-chain.ts";

/** What a service needs to know of a localnet that runs elsewhere. */
export interface LocalnetDescription {
  readonly ikaConfig: IkaConfig;
  readonly treasury: LocalnetTreasury;
  /** The address that the Treasury's caps and the gas coins were given to. */
  readonly hotWalletAddress: string;
}

/** `GET /localnet/network`: the ids by which to use the network. */
export function networkRoute(describe: () => LocalnetDescription): JsonRoute {
  return {
    method: "GET",
    path: "/localnet/network",
    handle: async () => ({ status: 200, json: describe() }),
  };
}
