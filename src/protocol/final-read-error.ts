/** A read whose repeat cannot help. Its cause says why. */
export class FinalReadError extends Error {
  override readonly name = "FinalReadError";
}
