import { bitLength } from "../protocol/class-groups/integers.ts";

/**
 * The lengths in bits of the integers in the class-group proofs. A response is mask + challenge * secret over the
 * integers. It hides the secret only if the mask is much longer than challenge * secret: a short mask leaks the secret.
 */

/** Encryption randomness, and the blinding of a coefficient: 2^749 is the bound on the group's order. */
export const RANDOMNESS_BITS = 749;
const CHALLENGE_BITS = 128;
/** The responses of any two secrets have a statistical distance of 2^-64. */
const STATISTICAL_BITS = 64;

/** The mask for encryption randomness: 941. */
export const MASK_BITS = RANDOMNESS_BITS + CHALLENGE_BITS + STATISTICAL_BITS;

/** A coefficient with its blinding, c + s*q: 749 bits, 256 bits for the order, and one for the sum. */
export const COEFFICIENT_BITS = 1006;

/** The mask for such a coefficient: 1198. */
export const COEFFICIENT_MASK_BITS = COEFFICIENT_BITS + CHALLENGE_BITS + STATISTICAL_BITS;

/**
 * Returns mask + challenge * secret. Throws a RangeError if the secret exceeds `bits` bits or the challenge exceeds
 * 128.
 */
export function maskedResponse(mask: bigint, challenge: bigint, secret: bigint, bits: number): bigint {
  const isInBounds = bitLength(secret) <= bits && bitLength(challenge) <= CHALLENGE_BITS && secret >= 0n;
  if (!isInBounds) throw new RangeError("a secret is too long for its mask");
  return mask + challenge * secret;
}
