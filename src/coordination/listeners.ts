/** The listeners of one process, by topic. */
export interface Listeners {
  /** Calls `listener` at every wake-up of the topic until the returned function is called. */
  add(topic: string, listener: () => void): () => void;
  /** Calls all listeners of the topic. One that throws does not keep the others from being called. */
  wake(topic: string): void;
  clear(): void;
}

/** A table of listeners. A topic without listeners takes no room. */
export function createListeners(): Listeners {
  const byTopic = new Map<string, Set<{ readonly call: () => void }>>();
  return {
    add(topic, call) {
      // An entry of its own, so that a function that is added twice is called twice.
      const entry = { call };
      const entries = byTopic.get(topic) ?? new Set();
      byTopic.set(topic, entries.add(entry));
      return () => {
        entries.delete(entry);
        if (entries.size === 0 && byTopic.get(topic) === entries) byTopic.delete(topic);
      };
    },
    wake(topic) {
      for (const { call } of [...(byTopic.get(topic) ?? [])]) {
        try {
          call();
        } catch {
          // Signals are hints; who cannot take one will look by itself.
        }
      }
    },
    clear: () => byTopic.clear(),
  };
}
