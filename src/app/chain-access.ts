import { getNetworkConfig } from "@ika.xyz/sdk";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import type { NetworkOptions } from "../chain/network.ts";
import type { Config } from "../config.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import { localnetHotWalletSecret } from "../localnet/seed.ts";
import { hexToBytes } from "../protocol/bytes.ts";
import { Secret } from "../telemetry/secret.ts";
import { startLocalnetThread } from "./localnet-thread.ts";
import { listening } from "./port-taken.ts";

const DESCRIBE_TIMEOUT_MS = 10_000;

/** What starting a localnet needs beside the configuration. */
export interface ChainAccessDeps {
  readonly lifecycle: Pick<Lifecycle, "start">;
  readonly log: { info(fields: object, message: string): void };
}

/**
 * Where the chain is and as whom to act there: the configured network, or a localnet that is embedded in this
 * process. Throws when the hot wallet is the localnet's public development key on any other network.
 */
export async function openChainAccess(config: Config, deps: ChainAccessDeps): Promise<NetworkOptions> {
  const { network } = config;
  const developmentSecret = localnetHotWalletSecret();
  const configured =
    config.hotWalletSecretHex && hexToBytes(config.hotWalletSecretHex.reveal().toLowerCase());
  const hotWalletSecret = new Secret(configured ?? developmentSecret);
  const gasStationHex = config.gasStationSecretHex?.reveal().toLowerCase();
  const gasStationSecret = gasStationHex === undefined ? undefined : new Secret(hexToBytes(gasStationHex));
  if (network.name !== "localnet") {
    if (Buffer.compare(hotWalletSecret.reveal(), developmentSecret) === 0) {
      throw new Error(
        `HOT_WALLET_SUI_SECRET_HEX is the localnet's public development key; it cannot be used on ${network.name}`,
      );
    }
    const { name, fullnodeUrl, publicFullnodeUrl, treasury } = network;
    return {
      name,
      fullnodeUrl,
      publicFullnodeUrl,
      treasury,
      ikaConfig: getNetworkConfig(name),
      hotWalletSecret,
      gasStationSecret,
    };
  }
  if (network.url !== undefined) {
    const { treasury, ikaConfig } = await describeLocalnet(network.url);
    return {
      name: "localnet",
      fullnodeUrl: new Secret(network.url),
      publicFullnodeUrl: network.url,
      treasury,
      ikaConfig,
      hotWalletSecret,
      gasStationSecret,
    };
  }
  const localnet = await deps.lifecycle.start(
    "localnet",
    () =>
      listening("LOCALNET_PORT", network.port, () =>
        startLocalnetThread(
          {
            port: network.port,
            dataDirectory: `${config.dataDirectory}/localnet`,
            hotWalletAddress: addressOf(hotWalletSecret.reveal()),
            accounts: gasStationSecret ? [addressOf(gasStationSecret.reveal())] : [],
          },
          (message, fields) => deps.log.info(fields, `localnet: ${message}`),
        ),
      ),
    (running) => running.close(),
  );
  const { url, ikaConfig, treasury } = localnet;
  return {
    name: "localnet",
    fullnodeUrl: new Secret(url),
    publicFullnodeUrl: url,
    treasury,
    ikaConfig,
    hotWalletSecret,
    gasStationSecret,
  };
}

async function describeLocalnet(url: string): Promise<Pick<NetworkOptions, "treasury" | "ikaConfig">> {
  try {
    const reply = await fetch(new URL("/localnet/network", url), {
      signal: AbortSignal.timeout(DESCRIBE_TIMEOUT_MS),
    });
    if (!reply.ok) throw new Error(`it answers with ${reply.status}`);
    return (await reply.json()) as Pick<NetworkOptions, "treasury" | "ikaConfig">;
  } catch (cause) {
    throw new Error(`LOCALNET_URL: there is no localnet at ${url}; \`npm run localnet\` starts one`, {
      cause,
    });
  }
}

function addressOf(secret: Uint8Array): string {
  return Ed25519Keypair.fromSecretKey(secret).toSuiAddress();
}
