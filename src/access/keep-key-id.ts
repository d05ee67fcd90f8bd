import type { OnceOptions } from "../idempotency/run-once.ts";

/** A key that was made: its plaintext is known to the call that made it, and to no repeat. */
export interface MadeKey {
  readonly id: string;
  /** Undefined for a repeat. */
  readonly plaintext: string | undefined;
}

/** Remembers a call that makes a key by the key's id alone. */
export const KEEP_KEY_ID: Pick<OnceOptions<MadeKey>, "keep" | "recall"> = {
  keep: ({ id }) => ({ subjectId: id }),
  recall({ subjectId }) {
    if (subjectId === null) throw new Error("a key was made and its id not remembered");
    return { id: subjectId, plaintext: undefined };
  },
};
