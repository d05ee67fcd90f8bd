import { once } from "node:events";
import type { PGlite } from "@electric-sql/pglite";
import { startThread } from "../threads/start-thread.ts";

/** Opens PGlite on its own thread, because it runs PostgreSQL and its disk writes synchronously. */
export async function openPgliteThread(dataDirectory: string): Promise<PgliteProtocol> {
  const worker = startThread(import.meta.url, "./pglite-worker", dataDirectory);
  const waiting = new Map<number, { resolve(messages: BackendMessages): void; reject(error: Error): void }>();
  let lastId = 0;
  let ended: Error | undefined;
  let isClosing = false;
  let held: Uint8Array[] = [];
  const end = (error: Error): void => {
    ended = error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  await new Promise<void>((resolve, reject) => {
    worker.on("message", (answer: PgliteAnswer) => {
      if (answer.kind === "open") resolve();
      else if (answer.kind === "failed") fail(answer.message);
      else settle(answer);
    });
    worker.on("error", end);
    worker.on("error", reject);
    worker.on("exit", () => end(new Error("the embedded database is closed")));
    // A running thread would keep the process alive.
    const fail = (message: string): void => {
      const failure = new Error(`cannot open the embedded database in ${dataDirectory}: ${message}`);
      void worker.terminate().finally(() => reject(failure));
    };
  });
  return {
    waitReady: Promise.resolve(),
    execProtocolStream(bytes) {
      // After a failed statement, the connection still sends a message when the database closes.
      if (isClosing) return Promise.resolve([]);
      if (ended) return Promise.reject(ended);
      held.push(bytes);
      // A statement crosses to the thread once, with the Sync that ends it. Its replies follow together.
      if (WITHOUT_REPLY.has(bytes[0])) return Promise.resolve([]);
      const statement = Buffer.concat(held);
      held = [];
      const id = ++lastId;
      worker.postMessage({ kind: "execute", id, bytes: statement } satisfies PgliteRequest);
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
    },
    async close() {
      if (ended) return;
      isClosing = true;
      const exited = once(worker, "exit");
      worker.postMessage({ kind: "close" } satisfies PgliteRequest);
      await exited;
    },
  };

  function settle(answer: PgliteAnswer & { id: number }): void {
    const call = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (answer.kind === "messages") call?.resolve(answer.messages.map(revive));
    else call?.reject(new Error(answer.kind === "rejected" ? answer.message : "no answer"));
  }
}

/**
 * The first bytes of Parse, Bind, Describe, Execute and Close, to which PostgreSQL need not reply before the Sync
 * (PostgreSQL, "Message Formats").
 */
const WITHOUT_REPLY: ReadonlySet<number | undefined> = new Set(Buffer.from("PBDEC"));

type BackendMessages = Awaited<ReturnType<PGlite["execProtocolStream"]>>;

/** A message to the thread. */
export type PgliteRequest =
  | { readonly kind: "execute"; readonly id: number; readonly bytes: Uint8Array }
  | { readonly kind: "close" };

/** A message from the thread. It carries messages of the PostgreSQL protocol as plain objects. */
export type PgliteAnswer =
  | { readonly kind: "open" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "messages"; readonly id: number; readonly messages: readonly object[] }
  | { readonly kind: "rejected"; readonly id: number; readonly message: string };

/** The part of PGlite that pg's connection to it uses. */
export interface PgliteProtocol {
  readonly waitReady: Promise<void>;
  execProtocolStream(bytes: Uint8Array): Promise<BackendMessages>;
  close(): Promise<void>;
}

/** Restores an Error with the fields that pg and Prisma read. */
function revive(message: object): BackendMessages[number] {
  const isError = "name" in message && message.name === "error";
  return (isError ? Object.assign(new Error(), message) : message) as BackendMessages[number];
}
