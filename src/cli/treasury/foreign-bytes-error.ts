/** Thrown for bytes that are not a transaction, or for a transaction that does anything unrelated to a Treasury. */
export class ForeignBytesError extends Error {
  override readonly name = "ForeignBytesError";
}
