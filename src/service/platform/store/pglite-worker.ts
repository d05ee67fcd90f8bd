import { inspect } from "node:util";
import { setFlagsFromString } from "node:v8";
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import type { PgliteAnswer, PgliteRequest } from "./pglite-thread.ts";

const post = (answer: PgliteAnswer): void => parentPort?.postMessage(answer);

// Node 20 optimizes WebAssembly so early that a start takes a tenth more processor time. Later versions of V8 have this
// budget by default.
setFlagsFromString("--wasm-tiering-budget=13000000");

const opening = PGlite.create({ dataDir: workerData as string, relaxedDurability: false });
let last: Promise<void> = opening.then(
  () => post({ kind: "open" }),
  (error: unknown) => post({ kind: "failed", message: wordsOf(error) }),
);

// Messages are processed one after another, in order.
parentPort?.on("message", (request: PgliteRequest) => {
  last = last.then(() => answer(request));
});

/** PGlite's file system throws plain objects with a WASI error number. */
function wordsOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return `its files cannot be read or written (${inspect(error, { breakLength: Infinity })})`;
}

async function answer(request: PgliteRequest): Promise<void> {
  const pglite = await opening;
  if (request.kind === "close") {
    await pglite.close();
    process.exit();
  }
  try {
    const messages = await pglite.execProtocolStream(request.bytes, { throwOnError: false });
    // Errors lose their fields between threads, so they are sent as plain objects.
    const plain = messages.map((message) =>
      message instanceof Error ? Object.assign({ message: message.message }, message) : message,
    );
    post({ kind: "messages", id: request.id, messages: plain });
  } catch (error) {
    post({ kind: "rejected", id: request.id, message: String(error) });
  }
}
