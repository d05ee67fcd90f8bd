import { splitTopic } from "./topics.ts";

/** A table of listeners. A topic without listeners takes no room. */
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
          // Signals are hints; who cannot take one will look by itself.
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
  /** Calls `listener` at every wake-up of a topic of the kind, likewise. */
  addKind(kind: string, listener: Listener): () => void;
  /** Calls all listeners of the topic and its kind. One that throws does not keep the others from being called. */
  wake(topic: string): void;
  clear(): void;
}

/** Most topics have one listener, for which an array takes a fifth of what a set does. */
type Table = Map<string, readonly { readonly call: Listener }[]>;

function addTo(table: Table, name: string, call: Listener): () => void {
  // An entry of its own, so that a function that is added twice is called twice.
  const entry = { call };
  table.set(name, [...(table.get(name) ?? []), entry]);
  return () => {
    const left = table.get(name)?.filter((one) => one !== entry) ?? [];
    if (left.length > 0) table.set(name, left);
    else table.delete(name);
  };
}
