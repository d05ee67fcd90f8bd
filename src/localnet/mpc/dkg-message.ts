import { type ByteReader, byteReader } from "../../protocol/byte-reader.ts";
import { bigIntFromLittleEndian } from "../../protocol/bytes.ts";
import type { Ciphertext } from "../../protocol/parameters/network-key-output.ts";
import { type Curve, type CurvePoint, readPoint, readScalar } from "../../protocol/proofs/curve.ts";
import type { UserDkgMessage } from "../../protocol/proofs/dkg-transcripts.ts";
import { FISCHLIN_REPETITIONS } from "../../protocol/proofs/fischlin.ts";
import { rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import { readCiphertext } from "./ciphertext.ts";

/** The user's share encrypted to the user, with the proof that it is the logarithm of the public share. */
export interface EncryptedShareAndProof {
  readonly maskCiphertext: Ciphertext;
  readonly maskPoint: CurvePoint;
  readonly scalarResponse: bigint;
  readonly randomnessResponse: bigint;
  readonly ciphertext: Ciphertext;
}

/** Reads a versioned user DKG message; rejects anything malformed. */
export function decodeUserDkgMessage(curve: Curve, bytes: Uint8Array): UserDkgMessage {
  const reader = openVersion0(bytes, "user DKG message");
  const times = <T>(read: () => T): T[] => Array.from({ length: FISCHLIN_REPETITIONS }, read);
  const message = {
    masks: times(() => readPoint(curve, reader, "DKG proof's mask")),
    responses: times(() => readScalar(curve, reader, "DKG proof's response")),
    challenges: times(() => readUint128(reader)),
    publicShare: readPoint(curve, reader, "user's public key share"),
  };
  reader.end();
  return message;
}

/** Reads a versioned encrypted share with its proof; rejects anything malformed. */
export function decodeEncryptedShare(curve: Curve, bytes: Uint8Array): EncryptedShareAndProof {
  const reader = openVersion0(bytes, "encrypted user share");
  const message = {
    maskCiphertext: readCiphertext(curve, reader),
    maskPoint: readPoint(curve, reader, "encrypted share proof's mask"),
    scalarResponse: readScalar(curve, reader, "encrypted share proof's response"),
    randomnessResponse: readRandomnessResponse(reader),
    ciphertext: readCiphertext(curve, reader),
  };
  reader.end();
  return message;
}

/** Opens a versioned value of version 1, which BCS numbers 0: the tag, then a vector that holds the body. */
export function openVersion0(bytes: Uint8Array, what: string): ByteReader {
  const outer = byteReader(bytes, what);
  const version = outer.uint8();
  rejectUnless(version === 0, `${what}: unknown version ${version}`);
  const body = outer.vector();
  outer.end();
  return byteReader(body, what);
}

/** A 128-bit challenge. */
export function readUint128(reader: ByteReader): bigint {
  return bigIntFromLittleEndian(reader.vector(16));
}

/** A proof's answer for encryption randomness: 24 words, below the protocol's bound of 1278 bits. */
export function readRandomnessResponse(reader: ByteReader): bigint {
  const response = bigIntFromLittleEndian(reader.vector(192));
  rejectUnless(response >> 1278n === 0n, "randomness response exceeds 1278 bits");
  return response;
}
