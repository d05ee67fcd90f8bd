import type { ByteReader } from "../../protocol/byte-reader.ts";
import { byteReader } from "../../protocol/byte-reader.ts";
import { bytesToHex, concatBytes, encodeVector, equalBytes } from "../../protocol/bytes.ts";
import { floorMod } from "../../protocol/class-groups/integers.ts";
import type { Ciphertext } from "../../protocol/parameters/network-key-output.ts";
import { encodeCiphertext, readCiphertext } from "../../protocol/proofs/ciphertext.ts";
import { type CurvePoint, encodePoint, readPoint, scaleBase } from "../../protocol/proofs/curve.ts";
import { rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import type { NetworkKey } from "./network-key.ts";

/** The two shapes of presign: ECDSA's, and the one that Taproot, EdDSA and Schnorrkel share. */
export type PresignFamily = "ecdsa" | "schnorr";

/** What the network knows of a presign: nonce shares, and for ECDSA the mask. Secret. */
export interface PresignSecrets {
  readonly nonceShares: readonly [bigint, bigint];
  readonly mask: bigint;
}

/** A presign as its bytes say, checked to be this network's. */
export interface Presign {
  readonly sessionId: Uint8Array;
  /** ECDSA: encryptions of g, g*x0, g*x1, g*k0, g*k1. Schnorr: of k0, k1. */
  readonly ciphertexts: readonly Ciphertext[];
  /** k0*G and k1*G. */
  readonly noncePoints: readonly [CurvePoint, CurvePoint];
  readonly secrets: PresignSecrets;
}

/**
 * Makes the versioned presign of a session. Its secrets follow from the network's seed and the session id alone, so
 * the network keeps no state and a restart loses none; that a presign is used once is the contracts' duty.
 */
export function makePresign(key: NetworkKey, family: PresignFamily, sessionId: Uint8Array): Uint8Array {
  rejectUnless(sessionId.length === 32, "session id is not 32 bytes");
  const { curve, keyShares } = key;
  const { nonceShares, mask } = presignSecrets(key, family, sessionId);
  const encrypted = (scalar: bigint, index: number): Uint8Array =>
    encodeCiphertext(
      key.encrypt(floorMod(scalar, curve.order), `presign/${family}/${bytesToHex(sessionId)}/${index}`),
    );
  const plaintexts =
    family === "ecdsa"
      ? [mask, mask * keyShares[0], mask * keyShares[1], mask * nonceShares[0], mask * nonceShares[1]]
      : nonceShares;
  const body = concatBytes(
    family === "ecdsa" ? ECDSA_TAG : new Uint8Array(),
    encodeVector(sessionId),
    ...plaintexts.map(encrypted),
    ...nonceShares.map((share) => encodePoint(curve, scaleBase(curve, share))),
    encodeVector(key.commitment),
  );
  return concatBytes(VERSION_2, encodeVector(body));
}

/** Reads a versioned presign and checks that this network made it; throws a verdict otherwise. */
export function openPresign(key: NetworkKey, family: PresignFamily, bytes: Uint8Array): Presign {
  const outer = byteReader(bytes, "presign");
  rejectUnless(outer.uint8() === VERSION_2[0], "presign is not version 2");
  const reader = byteReader(outer.vector(), "presign");
  outer.end();
  if (family === "ecdsa") rejectUnless(reader.uint8() === ECDSA_TAG[0], "presign is not of the ECDSA kind");
  const sessionId = reader.vector(32);
  const count = family === "ecdsa" ? 5 : 2;
  const ciphertexts = Array.from({ length: count }, () => readCiphertext(key.curve, reader));
  const noncePoints = [readNonce(key, reader), readNonce(key, reader)] as const;
  rejectUnless(equalBytes(reader.vector(32), key.commitment), "presign is bound to another network key");
  reader.end();
  const secrets = presignSecrets(key, family, sessionId);
  const own = secrets.nonceShares.every((share, index) =>
    scaleBase(key.curve, share).equals(noncePoints[index]!),
  );
  rejectUnless(own, "presign was not made by this network");
  return { sessionId, ciphertexts, noncePoints, secrets };
}

const VERSION_2 = Uint8Array.of(1);
const ECDSA_TAG = Uint8Array.of(1);

function readNonce(key: NetworkKey, reader: ByteReader): CurvePoint {
  return readPoint(key.curve, reader, "presign's nonce");
}

function presignSecrets(key: NetworkKey, family: PresignFamily, sessionId: Uint8Array): PresignSecrets {
  const scalar = (name: string) => key.secretScalar(`presign/${family}/${bytesToHex(sessionId)}/${name}`);
  return { nonceShares: [scalar("nonce 0"), scalar("nonce 1")], mask: scalar("mask") };
}
