import { once } from "node:events";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import type { Localnet, LocalnetOptions } from "../../localnet/localnet.ts";
import type { NetworkAccess } from "../chain/fullnodes/network.ts";
import { readChainKeys, readNetworkAccess } from "../config/network-access.ts";
import type { NetworkConfig } from "../config/networks.ts";
import type { Lifecycle } from "../platform/lifecycle/lifecycle.ts";
import { listening } from "../platform/lifecycle/listening.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import { Secret } from "../platform/telemetry/secret.ts";
import { startThread } from "../platform/threads/start-thread.ts";

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
interface ChainAccessDeps {
  /** The parent folder of the embedded localnet's data. */
  readonly dataDirectory: string;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
}

function addressOf(secret: Secret<Uint8Array>): string {
  return Ed25519Keypair.fromSecretKey(secret.reveal()).toSuiAddress();
}

/** Starts a localnet on its own thread, so that it never blocks the service's event loop. */
async function startLocalnetThread(
  options: LocalnetThreadOptions,
  log: (message: string, fields: Record<string, unknown>) => void,
): Promise<LocalnetThread> {
  const worker = startThread(import.meta.url, "./localnet-worker", options);
  const localnet = await new Promise<LocalnetAccess>((resolve, reject) => {
    worker.on("message", (message: LocalnetMessage) => {
      if (message.kind === "log") log(message.message, message.fields);
      else if (message.kind === "started") resolve(message.localnet);
      else reject(Object.assign(new Error(message.message), { code: message.code }));
    });
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("the localnet's thread ended before it was ready")));
  }).catch(async (error: unknown) => {
    await worker.terminate();
    throw error;
  });
  worker.on("error", (error: Error) => log("the localnet's thread failed", { error: error.message }));
  return {
    ...localnet,
    async close() {
      const ended = once(worker, "exit");
      worker.postMessage("close");
      await ended;
    },
  };
}

/** A localnet on a thread. */
interface LocalnetThread extends LocalnetAccess {
  /** Waits until the localnet has written its data, and ends the thread. */
  close(): Promise<void>;
}

/** The localnet's address and objects. */
type LocalnetAccess = Pick<Localnet, "url" | "ikaConfig" | "treasury">;

/** A message from the thread. */
export type LocalnetMessage =
  | { readonly kind: "log"; readonly message: string; readonly fields: Record<string, unknown> }
  | { readonly kind: "started"; readonly localnet: LocalnetAccess }
  | { readonly kind: "failed"; readonly message: string; readonly code: string | undefined };

/** Options that can be passed to a thread. */
type LocalnetThreadOptions = Pick<
  LocalnetOptions,
  "port" | "dataDirectory" | "hotWalletAddress" | "accounts"
>;
