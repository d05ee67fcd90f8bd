/**
 * Wake-ups between the parts of a service, across replicas when Redis is configured. A signal is a hint that a row
 * has changed: it may be lost or doubled, so every waiter also looks at the row by itself after a while.
 */
export interface Signals {
  /** Wakes all who wait for the topic now. Never throws. */
  notify(topic: string): void;
  /** Calls `listener` for every notification until the returned function is called. */
  subscribe(topic: string, listener: () => void): () => void;
  /** The same for all topics of a kind; the listener hears which subject it is about. */
  subscribeKind(kind: string, listener: (subject: string) => void): () => void;
  close(): Promise<void>;
}
