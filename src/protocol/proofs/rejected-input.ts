import { MalformedBytesError } from "../bytes.ts";
import { InvalidFormError } from "../class-groups/class-group.ts";

/** Thrown for input that the protocol rejects. Its message is the reason in the outcome. Never contains a secret. */
export class RejectedInput extends Error {
  override readonly name = "RejectedInput";
}

/** Rejects the input with `reason` unless `condition` holds. */
export function rejectUnless(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new RejectedInput(reason);
}

/** Returns the reason if `error` rejects the input; undefined if it is a bug in this code. */
export function rejectionReason(error: unknown): string | undefined {
  const verdict =
    error instanceof RejectedInput ||
    error instanceof MalformedBytesError ||
    error instanceof InvalidFormError;
  return verdict ? error.message : undefined;
}
