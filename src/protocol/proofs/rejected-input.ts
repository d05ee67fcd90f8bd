import { MalformedBytesError } from "../bytes.ts";
import { InvalidFormError } from "../class-groups/class-group.ts";

/** The protocol's verdict on bad input; its message is the reason that the outcome carries. Never holds a secret. */
export class RejectedInput extends Error {
  override readonly name = "RejectedInput";
}

/** Rejects the input with `reason` unless `condition` holds. */
export function rejectUnless(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new RejectedInput(reason);
}

/** The reason if `error` is a verdict on the input, undefined if it is a fault of ours. */
export function rejectionReason(error: unknown): string | undefined {
  const verdict =
    error instanceof RejectedInput ||
    error instanceof MalformedBytesError ||
    error instanceof InvalidFormError;
  return verdict ? error.message : undefined;
}
