import type { IkaConfig } from "@ika.xyz/sdk";
import type { JsonRoute } from "./fullnode/server.ts";
import type { LocalnetTreasury } from "./local-chain.ts";

/** Returns the route `GET /localnet/network`, which shows the network's ids. */
export function networkRoute(describe: () => LocalnetDescription): JsonRoute {
  return {
    method: "GET",
    path: "/localnet/network",
    handle: async () => ({ status: 200, json: describe() }),
  };
}

/** The parameters that a service needs to use a localnet in another process. */
export interface LocalnetDescription {
  readonly ikaConfig: IkaConfig;
  readonly treasury: LocalnetTreasury;
  /** The address that owns the Treasury's caps and received the gas coins. */
  readonly hotWalletAddress: string;
}
