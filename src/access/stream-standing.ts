import { type ContextValues, createContextKey } from "@connectrpc/connect";

/** The check whether the caller that opened a stream may keep it. */
export interface StreamStanding {
  /** Identifies the key and address. Streams with the same name share one check. */
  readonly name: string;
  readonly keyId: string;
  /** Undefined for an operator's key. */
  readonly projectId: string | undefined;
  /** Rejects with the error that a new call of this caller would get. */
  check(): Promise<void>;
}

const standingKey = createContextKey<StreamStanding | undefined>(undefined, { description: "standing" });

/** Stores a stream's check in the context. Only the gate calls this. */
export function setStreamStanding(values: ContextValues, standing: StreamStanding): void {
  values.set(standingKey, standing);
}

/** Returns the check of a stream's caller; undefined for a call without a key. */
export function streamStandingOf(values: ContextValues): StreamStanding | undefined {
  return values.get(standingKey);
}
