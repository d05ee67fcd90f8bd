import { getNetworkConfig } from "@ika.xyz/sdk";
import { hexToBytes } from "../../protocol/bytes.ts";
import type { NetworkAccess } from "../chain/fullnodes/network.ts";
import { Secret } from "../platform/telemetry/secret.ts";
import type { NetworkConfig } from "./networks.ts";

/**
 * Returns the address of the configured chain and the service's keys, if this process has them. Undefined for an
 * embedded localnet. Throws if no localnet answers at `LOCALNET_URL`.
 */
export async function readNetworkAccess(network: NetworkConfig): Promise<NetworkAccess | undefined> {
  const { address } = network;
  const keys = readChainKeys(network);
  if (address.name !== "localnet") {
    return { ...address, ikaConfig: getNetworkConfig(address.name), ...keys };
  }
  return address.url === undefined ? undefined : readLocalnetAccess(address.url, keys);
}

const DESCRIBE_TIMEOUT_MS = 10_000;

/** The keys that the service signs with; none in an api process. */
export type ChainKeys = Pick<NetworkAccess, "hotWalletSecret" | "gasStationSecret">;

/** Returns the keys that the service signs with on the configured network. */
export function readChainKeys({ hotWalletSecretHex, gasStationSecretHex }: NetworkConfig): ChainKeys {
  return {
    hotWalletSecret: hotWalletSecretHex && secretOf(hotWalletSecretHex),
    gasStationSecret: gasStationSecretHex && secretOf(gasStationSecretHex),
  };
}

/** Asks a localnet for the access that a service needs. Throws if none answers at the URL. */
export async function readLocalnetAccess(url: string, keys: ChainKeys): Promise<NetworkAccess> {
  const { treasury, ikaConfig } = await describeLocalnet(url);
  return {
    name: "localnet",
    fullnodeUrl: new Secret(url),
    publicFullnodeUrl: url,
    treasury,
    ikaConfig,
    ...keys,
  };
}

/** Asks a localnet for its Ika objects and its Treasury. Throws if none answers at the URL. */
export async function describeLocalnet(url: string): Promise<Pick<NetworkAccess, "treasury" | "ikaConfig">> {
  try {
    const reply = await fetch(new URL("/localnet/network", url), {
      signal: AbortSignal.timeout(DESCRIBE_TIMEOUT_MS),
    });
    if (!reply.ok) throw new Error(`it responds with ${reply.status}`);
    return (await reply.json()) as Pick<NetworkAccess, "treasury" | "ikaConfig">;
  } catch (cause) {
    throw new Error(`LOCALNET_URL: no localnet responds at ${url}; \`npm run localnet\` starts one`, {
      cause,
    });
  }
}

function secretOf(hex: Secret): Secret<Uint8Array> {
  return new Secret(hexToBytes(hex.reveal().toLowerCase()));
}
