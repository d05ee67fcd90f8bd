import { EngineError } from "./engine.ts";
import type { PlainEngine } from "./engine-over.ts";
import { runPlainCall, wipeSecrets } from "./plain-calls.ts";

/** Runs an engine's calls on the caller's own thread. */
export function callsHere(): PlainEngine {
  const running = new Set<AbortController>();
  let isClosed = false;
  return {
    async ready() {
      if (isClosed) throw closedEngine();
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
        return await runPlainCall(method, input, { signal: call.signal });
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

/** What a call gets of an engine that is closed. */
export function closedEngine(): EngineError {
  return new EngineError("the engine is closed");
}
