/**
 * The package's entry `threshold-signing-service/words`: a seed as 24 words. It is an entry of its own, so that no other
 * program contains the list of words.
 */
export { type LocalReason, TssError, type TssErrorReason } from "../../sdk/errors.ts";
export { seedFromWords, seedToWords } from "./seed-words.ts";
