import { byteReader } from "../bytes.ts";
import type { Ciphertext } from "../parameters/network-key-output.ts";
import { type CurveArithmetic, type CurvePoint, readPoint } from "./curve.ts";
import { readCiphertext } from "./message-parts.ts";
import { rejectUnless } from "./rejected-input.ts";

/** Decodes version 2 of a presign. Throws RejectedInput if it is malformed. */
export function readPresign(curve: CurveArithmetic, family: PresignFamily, bytes: Uint8Array): PublicPresign {
  const outer = byteReader(bytes, "presign");
  rejectUnless(outer.uint8() === 1, "presign is not version 2");
  const reader = byteReader(outer.vector(), "presign");
  outer.end();
  if (family === "ecdsa") rejectUnless(reader.uint8() === 1, "presign is not of the ECDSA kind");
  const sessionId = reader.vector(32);
  const count = family === "ecdsa" ? 5 : 2;
  const ciphertexts = Array.from({ length: count }, () => readCiphertext(curve, reader));
  const nonce = (): CurvePoint => readPoint(curve, reader, "presign's nonce");
  const noncePoints = [nonce(), nonce()] as const;
  const commitment = reader.vector(32);
  reader.end();
  return { sessionId, ciphertexts, noncePoints, commitment };
}

/**
 * Decodes version 2 of an ECDSA presign for one dWallet, whose key was imported: 01 | vec(00 | session | encryptions of g,
 * g*x, g*k0, g*k1 | k0*G | k1*G | public key). In the result the encryption of g*x stands in both places of the network
 * key's parts. Throws RejectedInput if it is malformed.
 */
export function readDwalletPresign(curve: CurveArithmetic, bytes: Uint8Array): DwalletPresign {
  const outer = byteReader(bytes, "presign");
  rejectUnless(outer.uint8() === 1, "presign is not version 2");
  const reader = byteReader(outer.vector(), "presign");
  outer.end();
  rejectUnless(reader.uint8() === 0, "presign is not for one dWallet");
  const sessionId = reader.vector(32);
  const ciphertext = (): Ciphertext => readCiphertext(curve, reader);
  const [mask, share, first, second] = [ciphertext(), ciphertext(), ciphertext(), ciphertext()];
  const nonce = (): CurvePoint => readPoint(curve, reader, "presign's nonce");
  const noncePoints = [nonce(), nonce()] as const;
  const publicKey = readPoint(curve, reader, "presign's public key");
  reader.end();
  return { sessionId, ciphertexts: [mask, share, share, first, second], noncePoints, publicKey };
}

/**
 * The weights of the two encryptions of a key share, and of g, in a presign for one dWallet. It encrypts the network's
 * share itself, so the first weight is one and the others are zero.
 */
export const DWALLET_PRESIGN_WEIGHTS: readonly [bigint, bigint, bigint] = [1n, 0n, 0n];

/** The public part of a presign for one dWallet. */
export interface DwalletPresign extends Pick<PublicPresign, "sessionId" | "ciphertexts" | "noncePoints"> {
  /** The public key of the only dWallet that can use it. */
  readonly publicKey: CurvePoint;
}

/** The two shapes of presign: ECDSA's, and the one that Taproot, EdDSA and Schnorrkel share. */
export type PresignFamily = "ecdsa" | "schnorr";

/** The public part of a presign. */
export interface PublicPresign {
  readonly sessionId: Uint8Array;
  /** ECDSA: encryptions of g, g*x0, g*x1, g*k0, g*k1. Schnorr: of k0, k1. */
  readonly ciphertexts: readonly Ciphertext[];
  /** k0*G and k1*G. */
  readonly noncePoints: readonly [CurvePoint, CurvePoint];
  /** The commitment to the network key that the presign was made under: 32 bytes. */
  readonly commitment: Uint8Array;
}
