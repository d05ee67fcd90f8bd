/** Receives the end of each sign request once, from the replica that wrote it. */
export interface SignObserver {
  completed(times: SignTimes): void;
  /** `reason` is the request's `failure_reason`. */
  failed(reason: string): void;
}

/** How long a completed sign request was in each state; null if the database does not know. */
export interface SignTimes {
  /** From the reservation to the arrival of the user's half. */
  readonly preparedSeconds: number | null;
  /** From the arrival of the user's half until its transaction is final. */
  readonly queuedSeconds: number | null;
  /** From the finality of its transaction until the verified signature is stored. */
  readonly submittedSeconds: number | null;
}
