/**
 * Signals between the parts of a service, across replicas if Redis is configured. A signal is a hint that a row has
 * changed. It may be lost or duplicated, so every waiter also polls the row.
 */
export interface Signals {
  /** Wakes all current waiters of the topic. Never throws. */
  notify(topic: string): void;
  /** Calls `listener` for every notification until the returned function is called. */
  subscribe(topic: string, listener: () => void): () => void;
  /**
   * Calls `listener` with the subject for every notification of this kind of topic, until the returned function is
   * called.
   */
  subscribeKind(kind: string, listener: (subject: string) => void): () => void;
  close(): Promise<void>;
}
