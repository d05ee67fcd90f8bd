import { inspect } from "node:util";
import { parentPort, workerData } from "node:worker_threads";
import { type LocalnetOptions, startLocalnet } from "../../localnet/localnet.ts";
import type { LocalnetMessage } from "./chain-access.ts";

/** Runs the localnet on its own thread: reports its URL, forwards its log, and closes on request. */
const post = (message: LocalnetMessage): void => parentPort?.postMessage(message);

try {
  const localnet = await startLocalnet({
    ...(workerData as Omit<LocalnetOptions, "log">),
    log: (message, fields) => post({ kind: "log", message, fields: plain(fields) }),
  });
  parentPort?.once("message", () => void localnet.close().finally(() => process.exit()));
  const { url, ikaConfig, treasury } = localnet;
  post({ kind: "started", localnet: { url, ikaConfig, treasury } });
} catch (error) {
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
  post({ kind: "failed", message: error instanceof Error ? error.message : String(error), code });
}

/** Converts errors and objects to text for the other thread, because not all of them can be cloned. */
function plain(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === "object" ? inspect(value) : value]),
  );
}
