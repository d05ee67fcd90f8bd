import { once } from "node:events";
import type { Localnet, LocalnetOptions } from "../localnet/localnet.ts";
import { startThread } from "../threads/start-thread.ts";

/** Starts a localnet on a thread of its own, so that a fullnode's work never holds up the service's event loop. */
export async function startLocalnetThread(
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
export interface LocalnetThread extends LocalnetAccess {
  /** Lets it write what it must and ends the thread. */
  close(): Promise<void>;
}

/** What the service needs to know of its localnet. */
export type LocalnetAccess = Pick<Localnet, "url" | "ikaConfig" | "treasury">;

/** What the thread says. */
export type LocalnetMessage =
  | { readonly kind: "log"; readonly message: string; readonly fields: Record<string, unknown> }
  | { readonly kind: "started"; readonly localnet: LocalnetAccess }
  | { readonly kind: "failed"; readonly message: string; readonly code: string | undefined };

/** What may be told to a localnet across threads. */
export type LocalnetThreadOptions = Pick<
  LocalnetOptions,
  "port" | "dataDirectory" | "hotWalletAddress" | "accounts"
>;
