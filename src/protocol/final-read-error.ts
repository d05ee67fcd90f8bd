/** Thrown when a read fails in a way that a retry cannot help. Its cause says why. */
export class FinalReadError extends Error {
  override readonly name = "FinalReadError";
}
