import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import type { NetworkAccess } from "../chain/network.ts";
import type { Config } from "../config/config.ts";
import { readChainKeys, readNetworkAccess } from "../config/network-access.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import type { Log } from "../telemetry/log.ts";
import { Secret } from "../telemetry/secret.ts";
import { startLocalnetThread } from "./localnet-thread.ts";
import { listening } from "./port-taken.ts";

/**
 * Returns the address of the chain and the service's keys: of the configured network, or of a localnet that this
 * function starts in the process. Throws what {@link readNetworkAccess} throws.
 */
export async function openChainAccess(config: Config, deps: ChainAccessDeps): Promise<NetworkAccess> {
  const configured = await readNetworkAccess(config);
  if (configured !== undefined) return configured;
  const { network, dataDirectory } = config;
  if (network.name !== "localnet") throw new Error(`${network.name} cannot be embedded`);
  const keys = readChainKeys(config);
  const { hotWalletSecret, gasStationSecret } = keys;
  const { url, ikaConfig, treasury } = await deps.lifecycle.start(
    "localnet",
    () =>
      listening("LOCALNET_PORT", network.port, () =>
        startLocalnetThread(
          {
            port: network.port,
            dataDirectory: `${dataDirectory}/localnet`,
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
    ...{ treasury, ikaConfig, ...keys },
  };
}

/** Dependencies of {@link openChainAccess}. */
export interface ChainAccessDeps {
  readonly lifecycle: Pick<Lifecycle, "start">;
  readonly log: Pick<Log, "info">;
}

function addressOf(secret: Secret<Uint8Array>): string {
  return Ed25519Keypair.fromSecretKey(secret.reveal()).toSuiAddress();
}
