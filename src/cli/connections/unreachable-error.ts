/** Thrown if nothing answers. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

/** Returns the message of an error. The combined error of several addresses has no message of its own. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
