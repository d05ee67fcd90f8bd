/** How long a completed sign request was in each state; null where the database does not tell. */
export interface SignTimes {
  /** From the reservation until the user's half came. */
  readonly preparedSeconds: number | null;
  /** From then on until its transaction was final. */
  readonly queuedSeconds: number | null;
  /** From then on until the verified signature was stored. */
  readonly submittedSeconds: number | null;
}

/** Is told how sign requests end, once each, by the replica that wrote it. */
export interface SignObserver {
  completed(times: SignTimes): void;
  /** `reason` is the request's `failure_reason`. */
  failed(reason: string): void;
}
