import { once } from "node:events";
import type { Localnet, LocalnetOptions } from "../../localnet/localnet.ts";
import { startThread } from "../platform/threads/start-thread.ts";

/** Starts a localnet on its own thread, so that it never blocks the service's event loop. */
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
  /** Waits until the localnet has written its data, and ends the thread. */
  close(): Promise<void>;
}

/** The localnet's address and objects. */
export type LocalnetAccess = Pick<Localnet, "url" | "ikaConfig" | "treasury">;

/** A message from the thread. */
export type LocalnetMessage =
  | { readonly kind: "log"; readonly message: string; readonly fields: Record<string, unknown> }
  | { readonly kind: "started"; readonly localnet: LocalnetAccess }
  | { readonly kind: "failed"; readonly message: string; readonly code: string | undefined };

/** Options that can be passed to a thread. */
export type LocalnetThreadOptions = Pick<
  LocalnetOptions,
  "port" | "dataDirectory" | "hotWalletAddress" | "accounts"
>;
