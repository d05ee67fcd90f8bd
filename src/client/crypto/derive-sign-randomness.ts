import { expand, extract } from "@noble/hashes/hkdf.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import type { AlgorithmTriple } from "../../protocol/algorithms.ts";
import { bigIntFromBigEndian, bigIntFromLittleEndian, encodeVector } from "../../protocol/bytes.ts";
import { type CurveArithmetic, scalarBytes } from "../../protocol/proofs/curve.ts";

/**
 * Derives the randomness of a sign message (version 1 of `docs/user-share.md`) from the share and all inputs of the
 * message, as RFC 6979 does for ECDSA's nonce. Every process gets the same numbers from the same input. An input that
 * differs in one bit gives independent numbers.
 */
export function deriveSignRandomness(curve: CurveArithmetic, input: SignRandomnessInput): SignRandomness {
  const { triple, share, dwalletOutput, presign, commitment, message } = input;
  const secret = scalarBytes(curve, share);
  const key = extract(sha512, secret, SIGN_RANDOMNESS_LABEL);
  secret.fill(0);
  const context = sha512(
    concatBytes(
      Uint8Array.of(triple.curveNumber, triple.signatureAlgorithmNumber, triple.hashNumber),
      encodeVector(dwalletOutput),
      encodeVector(presign),
      encodeVector(commitment),
      encodeVector(message),
    ),
  );
  const bytes = (name: string, binding: Uint8Array, length: number): Uint8Array => {
    const info = concatBytes(context, encodeVector(new TextEncoder().encode(name)), encodeVector(binding));
    return expand(sha512, key, info, length);
  };
  const drawn: Draw[] = [];
  return {
    scalar(name, binding = NOTHING) {
      const wide = bytes(name, binding, WIDE_BYTES);
      const scalar = (bigIntFromBigEndian(wide) % (curve.order - 1n)) + 1n;
      wide.fill(0);
      drawn.push({ name, binding, number: scalar });
      return scalar;
    },
    integer(name, bits, binding = NOTHING) {
      const long = bytes(name, binding, Math.ceil(bits / 8));
      const integer = BigInt.asUintN(bits, bigIntFromLittleEndian(long));
      long.fill(0);
      drawn.push({ name, binding, number: integer, bits });
      return integer;
    },
    isEqualTo: (other) =>
      drawn.every(({ name, binding, number, bits }) => {
        const again = bits === undefined ? other.scalar(name, binding) : other.integer(name, bits, binding);
        return again === number;
      }),
    destroy() {
      key.fill(0);
      drawn.length = 0;
    },
  };
}

/** The inputs that determine a user's sign message. */
export interface SignRandomnessInput {
  readonly triple: AlgorithmTriple;
  /** The share's scalar. Secret. */
  readonly share: bigint;
  readonly dwalletOutput: Uint8Array;
  readonly presign: Uint8Array;
  /** The commitment to the network key in the protocol parameters: 32 bytes. */
  readonly commitment: Uint8Array;
  /** The message before hashing. */
  readonly message: Uint8Array;
}

/** The secret random numbers of one sign message, each with its own name. Draw each name only once. */
export interface SignRandomness {
  /** Returns a scalar in 1..order-1, uniform up to 2^-256. It also depends on `binding`. */
  scalar(name: string, binding?: Uint8Array): bigint;
  /** Returns an integer, uniform below 2^bits. */
  integer(name: string, bits: number, binding?: Uint8Array): bigint;
  /**
   * Returns whether `other` gives the same numbers as those drawn from this one so far. They are compared as they are
   * in memory, so this also finds a number that has changed since it was drawn.
   */
  isEqualTo(other: SignRandomness): boolean;
  /** Overwrites the key that the numbers are derived from, and forgets the numbers. */
  destroy(): void;
}

/** A number that was drawn; an integer if it has `bits`. */
interface Draw {
  readonly name: string;
  readonly binding: Uint8Array;
  readonly number: bigint;
  readonly bits?: number;
}

/** The version of the derivation. A change of a message's bytes for any input requires a new label. */
const SIGN_RANDOMNESS_LABEL = new TextEncoder().encode("threshold-signing-service/sign-randomness/v1");
/** 256 bits more than the order, against bias. */
const WIDE_BYTES = 64;
const NOTHING = new Uint8Array();
