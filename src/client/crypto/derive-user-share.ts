import { hkdf } from "@noble/hashes/hkdf.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { type CurveName, curveNumber } from "../../protocol/algorithms.ts";
import { bigIntFromBigEndian, hexToBytes } from "../../protocol/bytes.ts";
import { isObjectId } from "../../protocol/chain/object-id.ts";
import { encodeUserShare } from "../../protocol/dwallet-output.ts";
import { curveByNumber } from "../../protocol/proofs/curve.ts";
import { EngineError } from "./engine.ts";
import { SecretBytes } from "./secret-bytes.ts";

/**
 * Derives the user's secret share x_A of one dWallet (version 1 of `docs/user-share.md`), encoded as the protocol's
 * calls expect it: 00 | vec(scalar). The owner of the seed can compute it again, and nobody else can choose it.
 *
 * HKDF-SHA-512 runs in constant time. The reduction and the encoding use BigInt, whose time depends on the secret: do
 * not run this where others can measure it to the microsecond. Intermediate numbers cannot be overwritten.
 */
export function deriveUserShare(input: UserShareInput): SecretBytes {
  const { seed, networkEncryptionKeyId, sessionDigest } = input;
  if (seed.length !== 32) throw new EngineError(`seed: 32 bytes, not ${seed.length}`);
  if (sessionDigest.length !== 32) throw new EngineError("session digest: 32 bytes");
  if (!isObjectId(networkEncryptionKeyId)) {
    throw new EngineError("network encryption key id: 0x and 64 hex digits");
  }
  const number = curveNumber(input.curve);
  const curve = curveByNumber(number);
  const info = concatBytes(Uint8Array.of(number), hexToBytes(networkEncryptionKeyId.slice(2)), sessionDigest);
  const wide = hkdf(sha512, seed, DERIVATION_LABEL, info, WIDE_BYTES);
  // 256 bits more than the order: the remainder is uniform up to 2^-256. The result is never zero.
  const scalar = (bigIntFromBigEndian(wide) % (curve.order - 1n)) + 1n;
  wide.fill(0);
  return new SecretBytes(encodeUserShare(input.curve, scalar));
}

/** The inputs of the user's share of one dWallet. */
export interface UserShareInput {
  /** The root of all of a user's keys, 32 bytes. Not kept after the call. */
  readonly seed: Uint8Array;
  readonly curve: CurveName;
  /** The object id of the dWallet's network encryption key: 0x and 64 hex digits. */
  readonly networkEncryptionKeyId: string;
  /** The digest of the DKG's session identifier, 32 bytes: see `sessionIdentifierDigest`. */
  readonly sessionDigest: Uint8Array;
}

/** The version of the derivation. A new derivation must use a new label and exist beside this one. */
const DERIVATION_LABEL = new TextEncoder().encode("threshold-signing-service/dkg-user-share/v1");
const WIDE_BYTES = 64;
