/**
 * A fullnode answered a question with something else than was asked for: another object, another transaction, another
 * owner's coins, or a session that belongs to another request. Nothing may be concluded from such an answer. The
 * question is asked again later.
 */
export class MixedUpAnswerError extends Error {
  override readonly name = "MixedUpAnswerError";
  /** Which read it was, as a short name from a bounded list. */
  readonly read: string;
  /** The objects that were asked for and not answered; empty where the question was not about objects. */
  readonly objectIds: readonly string[];

  constructor(read: string, message: string, objectIds: readonly string[] = []) {
    super(message);
    this.read = read;
    this.objectIds = objectIds;
  }
}

/** The mix-up behind an error, through its causes; undefined if there is none. */
export function mixUpIn(error: unknown): MixedUpAnswerError | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < DEPTH_AT_MOST; depth++) {
    if (cause instanceof MixedUpAnswerError) return cause;
    cause = cause.cause;
  }
  return undefined;
}

const DEPTH_AT_MOST = 8;
