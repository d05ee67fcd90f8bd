/** Finds a {@link MixedUpAnswerError} in the error or its causes; undefined if there is none. */
export function mixUpIn(error: unknown): MixedUpAnswerError | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < DEPTH_AT_MOST; depth++) {
    if (cause instanceof MixedUpAnswerError) return cause;
    cause = cause.cause;
  }
  return undefined;
}

/**
 * Thrown when a fullnode's answer does not match the request: it contains another object, another transaction, another
 * owner's coins, or a session of another request. Such an answer proves nothing, so the caller retries later.
 */
export class MixedUpAnswerError extends Error {
  override readonly name = "MixedUpAnswerError";
  /** The kind of read, a short name from a fixed list. */
  readonly read: string;
  /** The requested objects without an answer; empty if the request was not about objects. */
  readonly objectIds: readonly string[];

  constructor(read: string, message: string, objectIds: readonly string[] = []) {
    super(message);
    this.read = read;
    this.objectIds = objectIds;
  }
}

const DEPTH_AT_MOST = 8;

/** Thrown when a read fails in a way that a retry cannot help. Its cause says why. */
export class FinalReadError extends Error {
  override readonly name = "FinalReadError";
}

/** Thrown when an object reaches a final state that is a rejection. */
export class NetworkRejectedError extends Error {
  override readonly name = "NetworkRejectedError";
  readonly objectId: string;
  /** The object's state, such as `NetworkRejectedDKGVerification`. */
  readonly state: string;

  constructor(objectId: string, state: string) {
    super(`the network answered ${state}`);
    this.objectId = objectId;
    this.state = state;
  }
}

/**
 * A long computation that yields every few milliseconds. The caller decides whether to run something else in between;
 * the computation has no clock or thread of its own. If it yields a promise, the caller must await it before
 * continuing.
 */
export type Steps<T> = Generator<void | Promise<void>, T, void>;

/** Runs the computation to its end without a pause. Throws if it yields a promise. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (step.value !== undefined) throw new Error("the computation waits for another thread");
  }
}
