/** Thrown for bytes that are no transaction, or do something that does not belong to a Treasury. */
export class ForeignBytesError extends Error {
  override readonly name = "ForeignBytesError";
}
