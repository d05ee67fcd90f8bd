import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import type { NetworkAccess } from "../chain/fullnodes/network.ts";
import { readChainKeys, readNetworkAccess } from "../config/network-access.ts";
import type { NetworkConfig } from "../config/networks.ts";
import type { Lifecycle } from "../platform/lifecycle/lifecycle.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import { Secret } from "../platform/telemetry/secret.ts";
import { startLocalnetThread } from "./localnet-thread.ts";
import { listening } from "./ports.ts";

/**
 * Returns the address of the chain and the service's keys, for the configured network or for a localnet that it starts
 * in the process. Throws the errors of {@link readNetworkAccess}.
 */
export async function openChainAccess(network: NetworkConfig, deps: ChainAccessDeps): Promise<NetworkAccess> {
  const configured = await readNetworkAccess(network);
  if (configured !== undefined) return configured;
  const { address } = network;
  if (address.name !== "localnet") throw new Error(`${address.name} cannot be embedded`);
  const keys = readChainKeys(network);
  const { hotWalletSecret, gasStationSecret } = keys;
  if (hotWalletSecret === undefined)
    throw new Error("an embedded localnet needs a process with the hot wallet");
  const { url, ikaConfig, treasury } = await deps.lifecycle.start(
    "localnet",
    () =>
      listening("LOCALNET_PORT", address.port, () =>
        startLocalnetThread(
          {
            port: address.port,
            dataDirectory: `${deps.dataDirectory}/localnet`,
            hotWalletAddress: addressOf(hotWalletSecret),
            accounts: gasStationSecret ? [addressOf(gasStationSecret)] : [],
          },
          (message, fields) => deps.log.info(fields, `localnet: ${message}`),
        ),
      ),
    (running) => running.close(),
  );
  return {
    name: "localnet",
    fullnodeUrl: new Secret(url),
    publicFullnodeUrl: url,
    treasury,
    ikaConfig,
    ...keys,
  };
}

/** Dependencies of {@link openChainAccess}. */
export interface ChainAccessDeps {
  /** The parent folder of the embedded localnet's data. */
  readonly dataDirectory: string;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
}

function addressOf(secret: Secret<Uint8Array>): string {
  return Ed25519Keypair.fromSecretKey(secret.reveal()).toSuiAddress();
}
