import { inspect } from "node:util";
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import type { PgliteAnswer, PgliteRequest } from "./pglite-thread.ts";

/** PGlite on its own thread: carries out protocol messages one after another, in the order in which they come. */
const post = (answer: PgliteAnswer): void => parentPort?.postMessage(answer);

const opening = PGlite.create({ dataDir: workerData as string, relaxedDurability: false });
let last: Promise<void> = opening.then(
  () => post({ kind: "open" }),
  (error: unknown) => post({ kind: "failed", message: wordsOf(error) }),
);

parentPort?.on("message", (request: PgliteRequest) => {
  last = last.then(() => answer(request));
});

/** Its file system fails with plain objects that have a number of WASI's. */
function wordsOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return `its files cannot be read and written (${inspect(error, { breakLength: Infinity })})`;
}

async function answer(request: PgliteRequest): Promise<void> {
  const pglite = await opening;
  if (request.kind === "close") {
    await pglite.close();
    process.exit();
  }
  try {
    const messages = await pglite.execProtocolStream(request.bytes, { throwOnError: false });
    // Errors lose their fields when they cross to another thread, so they go as plain objects.
    const plain = messages.map((message) =>
      message instanceof Error ? Object.assign({ message: message.message }, message) : message,
    );
    post({ kind: "messages", id: request.id, messages: plain });
  } catch (error) {
    post({ kind: "rejected", id: request.id, message: String(error) });
  }
}
