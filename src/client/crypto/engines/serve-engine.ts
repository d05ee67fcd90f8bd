import { EngineError } from "../engine.ts";
import { BOTH_PARTS, splitWithPeer } from "../part-split.ts";
import type { Method, OutputOf } from "../plain-data.ts";
import { buffersOf, type CallMessage, type FromWorker, type ToWorker } from "./engine-messages.ts";
import { runPlainCall } from "./plain-calls.ts";

/**
 * Answers an engine's calls on a worker. The worker owns the only copy of a call's input and overwrites its secrets
 * when the call ends. The output is transferred to the engine.
 */
export function serveEngine(port: EnginePort): void {
  const running = new Map<number, { readonly abort: AbortController; readonly ended: Promise<void> }>();
  const say = (message: FromWorker, transfer: ArrayBuffer[] = []): void => {
    port.postMessage(message, transfer);
  };
  port.onmessage = ({ data }) => {
    switch (data.kind) {
      case "call": {
        const abort = new AbortController();
        const ended = answer(data, abort.signal).then(() => void running.delete(data.id));
        running.set(data.id, { abort, ended });
        return;
      }
      case "cancel":
        running.get(data.id)?.abort.abort();
        return;
      case "close": {
        const calls = [...running.values()];
        for (const { abort } of calls) abort.abort();
        void Promise.all(calls.map(({ ended }) => ended)).then(() => say({ kind: "closed" }));
      }
    }
  };
  say({ kind: "ready" });

  async function answer({ id, method, input, peer }: CallMessage, signal: AbortSignal): Promise<void> {
    try {
      const split = peer === undefined ? BOTH_PARTS : splitWithPeer(peer.part, peer.port);
      const output = withOwnBuffers(await runPlainCall(method, input, { signal, split }));
      say({ kind: "result", id, output }, buffersOf(output));
    } catch (error) {
      const reason = error instanceof Error ? error.message : "unknown";
      say({ kind: error instanceof EngineError ? "refused" : "failed", id, reason });
    } finally {
      peer?.port.close();
    }
  }
}

/** The worker's port to its engine, in Node and in browsers. */
export interface EnginePort {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer?: ArrayBuffer[]): void;
}

/** Copies byte strings that are views of larger buffers, so that their buffers can be transferred. */
function withOwnBuffers(output: OutputOf<Method>): OutputOf<Method> {
  if (typeof output === "boolean") return output;
  if (output instanceof Uint8Array) return withOwnBuffer(output);
  const entries = Object.entries(output) as [string, unknown][];
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value instanceof Uint8Array ? withOwnBuffer(value) : value]),
  ) as unknown as OutputOf<Method>;
}

function withOwnBuffer(bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength === bytes.buffer.byteLength) return bytes;
  const own = Uint8Array.from(bytes);
  bytes.fill(0);
  return own;
}
