import { bitLength } from "../protocol/class-groups/integers.ts";

/**
 * How long the integers of the class-group proofs are. A response is mask + challenge * secret over the integers, and
 * hides the secret only because the mask is longer by more than the challenge: a short mask gives the secret away.
 */

/** Of encryption randomness, and of what blinds a coefficient: 2^749 is the bound on the group's order. */
export const RANDOMNESS_BITS = 749;
const CHALLENGE_BITS = 128;
/** A response differs from one of another secret by a statistical distance of 2^-64. */
const STATISTICAL_BITS = 64;

/** Of the mask for encryption randomness: 941. */
export const MASK_BITS = RANDOMNESS_BITS + CHALLENGE_BITS + STATISTICAL_BITS;

/** Of a coefficient with its blinding, c + s*q: 749 bits and an order of 256, and one for the sum. */
export const COEFFICIENT_BITS = 1006;

/** Of the mask for such a coefficient: 1198. */
export const COEFFICIENT_MASK_BITS = COEFFICIENT_BITS + CHALLENGE_BITS + STATISTICAL_BITS;

/** mask + challenge * secret. Throws a RangeError unless the secret has `bits` bits at most and the challenge 128. */
export function maskedResponse(mask: bigint, challenge: bigint, secret: bigint, bits: number): bigint {
  const isInBounds = bitLength(secret) <= bits && bitLength(challenge) <= CHALLENGE_BITS && secret >= 0n;
  if (!isInBounds) throw new RangeError("a secret is longer than its mask hides");
  return mask + challenge * secret;
}
