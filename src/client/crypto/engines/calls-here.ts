import { EngineError } from "../engine.ts";
import { loadPart } from "../load-part.ts";
import { type InputOf, type Method, type OutputOf, wipeSecrets } from "../plain-data.ts";
import type { PlainEngine } from "./engine-over.ts";

/** Runs an engine's calls on the caller's thread. Loads the code for the computations at the first call. */
export function callsHere(): PlainEngine {
  const running = new Set<AbortController>();
  let isClosed = false;
  return {
    async ready() {
      if (isClosed) throw closedEngine();
      await loadPart(loadCalls);
    },
    async run(method, input, signal) {
      if (isClosed) {
        wipeSecrets(input);
        throw closedEngine();
      }
      const call = new AbortController();
      const abort = (): void => call.abort(signal?.reason);
      if (signal?.aborted === true) abort();
      signal?.addEventListener("abort", abort);
      running.add(call);
      try {
        return await runHere(method, input, call.signal);
      } finally {
        running.delete(call);
        signal?.removeEventListener("abort", abort);
      }
    },
    async close() {
      isClosed = true;
      for (const call of running) call.abort(closedEngine());
    },
  };
}

const loadCalls = () => import("./plain-calls.ts");

async function runHere<M extends Method>(
  method: M,
  input: InputOf<M>,
  signal: AbortSignal,
): Promise<OutputOf<M>> {
  const { runPlainCall } = await loadPart(loadCalls, signal).catch((error: unknown) => {
    wipeSecrets(input);
    throw error;
  });
  return await runPlainCall(method, input, { signal });
}

/** Creates the error of a call to a closed engine. */
export function closedEngine(): EngineError {
  return new EngineError("the engine is closed");
}
