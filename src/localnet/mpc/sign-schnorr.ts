import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import {
  bigIntFromBigEndian,
  bigIntFromLittleEndian,
  bigIntToBigEndian,
  bigIntToLittleEndian,
} from "../../protocol/bytes.ts";
import { floorMod } from "../../protocol/class-groups/integers.ts";
import { pointGroupJson } from "../../protocol/proofs/canonical-parameters.ts";
import {
  type CurveArithmetic,
  type CurvePoint,
  pointBytes,
  pointJson,
  readPoint,
  readScalar,
  scale,
  scaleBase,
} from "../../protocol/proofs/curve.ts";
import { RANDOMIZER_TRANSCRIPT } from "../../protocol/proofs/dkg-transcripts.ts";
import { openVersion0 } from "../../protocol/proofs/message-parts.ts";
import { rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import { transcript, uniformScalar } from "../../protocol/proofs/transcript.ts";
import type { DWalletShares } from "./dwallet-shares.ts";
import type { CurveNetworkKey } from "./network-key.ts";
import type { Presign } from "./presign.ts";

/**
 * Completes a Schnorr signature. The user's message consists of the nonce share K_A and the partial response z_A. With
 * the joint nonce K and challenge e it must satisfy z_A*G = K_A + e*X_A. Returns R | s, 64 bytes. Throws an error with
 * a rejectionReason for an invalid message.
 */
export function signSchnorr(
  key: CurveNetworkKey,
  scheme: SchnorrScheme,
  hashName: string,
  dwallet: DWalletShares,
  presign: Presign,
  message: Uint8Array,
  userSignMessage: Uint8Array,
): Uint8Array {
  const { curve } = key;
  const reader = openVersion0(userSignMessage, "user sign message");
  const userNonce = readPoint(curve, reader, "user's nonce");
  const userResponse = readScalar(curve, reader, "user's partial signature");
  reader.end();
  const weight = nonceRandomizer(curve, hashName, dwallet, presign, message, userNonce);
  const [k0, k1] = presign.secrets.nonceShares;
  const networkNonce = floorMod(k0 + weight * k1, curve.order);
  const nonce = userNonce.add(scaleBase(curve, networkNonce));
  rejectUnless(!nonce.equals(curve.zero), "joint nonce is the neutral point");

  // BIP-340 uses points with even y, so shares of a point with odd y are negated.
  const nonceSign = scheme === "Taproot" && hasOddY(nonce) ? -1n : 1n;
  const keySign = scheme === "Taproot" && hasOddY(dwallet.publicKey) ? -1n : 1n;
  const challenge = CHALLENGE[scheme](nonce, dwallet.publicKey, message) % curve.order;
  const expected = scale(curve, userNonce, nonceSign).add(
    scale(curve, dwallet.userPublicShare, keySign * challenge),
  );
  rejectUnless(scaleBase(curve, userResponse).equals(expected), "partial signature does not verify");

  const networkPart = nonceSign * networkNonce + keySign * challenge * dwallet.networkShare;
  const response = floorMod(userResponse + networkPart, curve.order);
  if (scheme === "Taproot") return concatBytes(xOnly(nonce), bigIntToBigEndian(response, 32));
  const signature = concatBytes(pointBytes(nonce), bigIntToLittleEndian(response, 32));
  // schnorrkel marks its signatures to distinguish them from Ed25519 signatures (schnorrkel, Signature::to_bytes).
  if (scheme === "Schnorrkel") signature[63]! |= 128;
  return signature;
}

export type SchnorrScheme = "Taproot" | "EdDSA" | "Schnorrkel";

function nonceRandomizer(
  curve: CurveArithmetic,
  hashName: string,
  dwallet: DWalletShares,
  presign: Presign,
  message: Uint8Array,
  userNonce: CurvePoint,
): bigint {
  const hash = transcript(RANDOMIZER_TRANSCRIPT);
  hash.append("$ sid $", presign.sessionId);
  hash.append("$ msg $", message);
  hash.appendJson("$ H $", hashName);
  hash.appendJson("$ \\GG,G,q $", pointGroupJson(curve));
  hash.appendJson("$X$", pointJson(curve, dwallet.publicKey));
  hash.appendJson("$ K_{A}$", pointJson(curve, userNonce));
  hash.appendJson("$ K_{B,0} $", pointJson(curve, presign.noncePoints[0]));
  hash.appendJson("$ K_{B,1} $", pointJson(curve, presign.noncePoints[1]));
  return uniformScalar(hash, "$\\mu_{k}$", curve.order);
}

const CHALLENGE: Record<
  SchnorrScheme,
  (nonce: CurvePoint, publicKey: CurvePoint, message: Uint8Array) => bigint
> = {
  /** RFC 8032, section 5.1.6. */
  EdDSA: (nonce, publicKey, message) =>
    bigIntFromLittleEndian(sha512(concatBytes(pointBytes(nonce), pointBytes(publicKey), message))),
  /** BIP-340 over the SHA-256 of the message. */
  Taproot: (nonce, publicKey, message) => {
    const tag = sha256(new TextEncoder().encode("BIP0340/challenge"));
    return bigIntFromBigEndian(
      sha256(concatBytes(tag, tag, xOnly(nonce), xOnly(publicKey), sha256(message))),
    );
  },
  /** schnorrkel's sign with the simple signing context "substrate". */
  Schnorrkel: (nonce, publicKey, message) => {
    const utf8 = new TextEncoder();
    const hash = transcript("SigningContext");
    hash.append("", utf8.encode("substrate"));
    hash.append("sign-bytes", message);
    hash.append("proto-name", utf8.encode("Schnorr-sig"));
    hash.append("sign:pk", pointBytes(publicKey));
    hash.append("sign:R", pointBytes(nonce));
    return bigIntFromLittleEndian(hash.challenge("sign:c", 64));
  },
};

/** A compressed SEC1 point starts with 3 if y is odd. */
function hasOddY(point: CurvePoint): boolean {
  return pointBytes(point)[0] === 3;
}

function xOnly(point: CurvePoint): Uint8Array {
  return pointBytes(point).subarray(1);
}
