import { createListeners } from "./listeners.ts";
import type { Signals } from "./signals.ts";

/**
 * Signals within one process. Listeners are called in a microtask, never inside `notify`.
 *
 * @param isAlone true if no other process can open the database. Default false
 */
export function createLocalSignals(isAlone = false): Signals {
  const listeners = createListeners();
  let isClosed = false;
  return {
    notify(topic) {
      if (!isClosed) queueMicrotask(() => listeners.wake(topic));
    },
    subscribe: (topic, listener) => listeners.add(topic, listener),
    subscribeKind: (kind, listener) => listeners.addKind(kind, listener),
    isComplete: () => isAlone,
    async close() {
      isClosed = true;
      listeners.clear();
    },
  };
}
