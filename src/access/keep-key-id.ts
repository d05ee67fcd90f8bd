import type { OnceOptions } from "../idempotency/run-once.ts";

/** Stores only the key's id for repeats of a call that creates a key. */
export const KEEP_KEY_ID: Pick<OnceOptions<MadeKey>, "keep" | "recall"> = {
  keep: ({ id }) => ({ subjectId: id }),
  recall({ subjectId }) {
    if (subjectId === null) throw new Error("a key was made and its id not remembered");
    return { id: subjectId, plaintext: undefined };
  },
};

/** A created key. Only the call that created it knows its plaintext. */
export interface MadeKey {
  readonly id: string;
  /** Undefined for a repeated call. */
  readonly plaintext: string | undefined;
}
