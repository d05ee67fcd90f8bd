import { splitTopic } from "./topics.ts";

/** Creates a table of listeners. A topic without listeners uses no memory. */
export function createListeners(): Listeners {
  const byTopic: Table = new Map();
  const byKind: Table = new Map();
  return {
    add: (topic, listener) => addTo(byTopic, topic, listener),
    addKind: (kind, listener) => addTo(byKind, kind, listener),
    wake(topic) {
      const { kind, subject } = splitTopic(topic);
      for (const { call } of [...(byTopic.get(topic) ?? []), ...(byKind.get(kind) ?? [])]) {
        try {
          call(subject);
        } catch {
          // Signals are hints. A listener that throws polls its row anyway.
        }
      }
    },
    clear() {
      byTopic.clear();
      byKind.clear();
    },
  };
}

type Listener = (subject: string) => void;

/** The listeners of one process, by topic and by kind of topics. */
export interface Listeners {
  /** Calls `listener` at every wake-up of the topic until the returned function is called. */
  add(topic: string, listener: () => void): () => void;
  /** Calls `listener` at every wake-up of this kind of topic, until the returned function is called. */
  addKind(kind: string, listener: Listener): () => void;
  /** Calls all listeners of the topic and its kind, even if one of them throws. */
  wake(topic: string): void;
  clear(): void;
}

/** Most topics have one listener. An array then uses a fifth of a set's memory. */
type Table = Map<string, readonly { readonly call: Listener }[]>;

function addTo(table: Table, name: string, call: Listener): () => void {
  // Each registration has its own entry, so that a function that is added twice is called twice.
  const entry = { call };
  table.set(name, [...(table.get(name) ?? []), entry]);
  return () => {
    const left = table.get(name)?.filter((one) => one !== entry) ?? [];
    if (left.length > 0) table.set(name, left);
    else table.delete(name);
  };
}
