import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import type { CurveName, HashName, SignatureAlgorithmName } from "./algorithms.ts";
import { byteReader } from "./byte-reader.ts";
import { bigIntFromBigEndian, bigIntFromLittleEndian, MalformedBytesError } from "./bytes.ts";
import { type CurveGroup, curveGroup, type GroupPoint } from "./curve-group.ts";
import { parseDWalletOutput } from "./dwallet-output.ts";
import { groupParametersJson, groupPointJson, prettyJson } from "./group-parameters.ts";
import { createTranscript } from "./merlin.ts";
import { PRESIGN_VERSION, presignVersion } from "./presign-version.ts";
import { parsePartialSignature } from "./sign-message-layout.ts";
import { schnorrkelChallenge } from "./verify-signature.ts";

/**
 * Returns whether z_A * G = K_A + e * X_A, where e is the signature's challenge under the joint nonce K = K_A + K_0 +
 * mu * K_1. The network rejects everything else (2PC-MPC, Schnorr signing, the first check of the network's round).
 * Takes a few milliseconds. Throws MalformedBytesError for bytes of another layout.
 */
export function verifyPartialSignature(claim: PartialSignatureClaim): boolean {
  const { curve } = SETTINGS[claim.signatureAlgorithm];
  const group = curveGroup(curve);
  const { nonce, response } = parsePartialSignature(curve, claim.userSignMessage);
  const { challenge: e, userPublicShare, ...signs } = partialSignatureTerms(claim, nonce);
  const ownNonce = signs.isNonceNegated ? nonce.negate() : nonce;
  const ownShare = signs.isShareNegated ? userPublicShare.negate() : userPublicShare;
  return group.base.multiplyUnsafe(response).equals(ownNonce.add(ownShare.multiplyUnsafe(e)));
}

/** The Schnorr family: algorithms whose user half is a publicly verifiable partial signature. */
export type SchnorrAlgorithmName = Exclude<SignatureAlgorithmName, "ECDSASecp256k1" | "ECDSASecp256r1">;

/** The public inputs of one Schnorr-family signature. */
export interface SchnorrRequest {
  readonly signatureAlgorithm: SchnorrAlgorithmName;
  readonly dwalletOutput: Uint8Array;
  readonly presign: Uint8Array;
  /** The message before hashing. */
  readonly message: Uint8Array;
}

/** A user's half of a Schnorr-family signature with all public inputs that it depends on. */
export interface PartialSignatureClaim extends SchnorrRequest {
  readonly userSignMessage: Uint8Array;
}

/** The terms of the user's half once the nonce is fixed: z_A = k_A + e * x_A, with signs. */
export interface PartialSignatureTerms {
  /** e, the signature's challenge. */
  readonly challenge: bigint;
  /** BIP-340 uses points with even y. If the joint point has an odd y, both parties negate their part. */
  readonly isNonceNegated: boolean;
  readonly isShareNegated: boolean;
  /** X_A. */
  readonly userPublicShare: GroupPoint;
}

/** Computes the terms for the user's nonce K_A. Throws MalformedBytesError for bytes of another layout. */
export function partialSignatureTerms(request: SchnorrRequest, nonce: GroupPoint): PartialSignatureTerms {
  const { signatureAlgorithm, message } = request;
  const { curve, hash } = SETTINGS[signatureAlgorithm];
  const group = curveGroup(curve);
  const presign = parseSchnorrPresign(curve, request.presign);
  const output = parseDWalletOutput(curve, request.dwalletOutput);

  const transcript = createTranscript(NONCE_LABEL)
    .append("$ sid $", presign.sessionId)
    .append("$ msg $", message)
    .append("$ H $", prettyJson(hash))
    .append("$ \\GG,G,q $", groupParametersJson(curve))
    .append("$X$", prettyJson(groupPointJson(curve, output.publicKeyPoint)))
    .append("$ K_{A}$", prettyJson(groupPointJson(curve, nonce)))
    .append("$ K_{B,0} $", prettyJson(groupPointJson(curve, presign.nonces[0])))
    .append("$ K_{B,1} $", prettyJson(groupPointJson(curve, presign.nonces[1])));
  const wide = concatBytes(
    transcript.challenge("$\\mu_{k}$", 32),
    transcript.challenge(STATISTICAL_LABEL, 8),
  );
  const mu = bigIntFromLittleEndian(wide) % group.order;
  const jointNonce = nonce.add(presign.nonces[0]).add(presign.nonces[1].multiplyUnsafe(mu));
  const isTaproot = signatureAlgorithm === "Taproot";
  return {
    challenge: challenge(signatureAlgorithm, group, jointNonce, output.publicKeyPoint, message),
    isNonceNegated: isTaproot && hasOddY(jointNonce),
    isShareNegated: isTaproot && hasOddY(output.publicKeyPoint),
    userPublicShare: output.userPublicShare,
  };
}

/**
 * Parses the Schnorr family's presign, version 2: 01 | vec(vec(session id) | ct_0 | ct_1 | K_0 | K_1 |
 * vec(commitment)).
 */
function parseSchnorrPresign(
  curve: CurveName,
  presign: Uint8Array,
): { readonly sessionId: Uint8Array; readonly nonces: readonly [GroupPoint, GroupPoint] } {
  const { readPoint } = curveGroup(curve);
  const outer = byteReader(presign, "presign");
  if (outer.uint8() + 1 !== PRESIGN_VERSION)
    throw new MalformedBytesError(`presign: version ${presignVersion(presign)} is not supported`);
  const body = byteReader(outer.vector(), "presign");
  outer.end();
  const sessionId = body.vector(32);
  for (let form = 0; form < 4; form++) body.vector(256);
  const nonces = [readPoint(body), readPoint(body)] as const;
  body.vector(32);
  body.end();
  return { sessionId, nonces };
}

function challenge(
  signatureAlgorithm: SchnorrAlgorithmName,
  group: CurveGroup,
  nonce: GroupPoint,
  key: GroupPoint,
  message: Uint8Array,
): bigint {
  switch (signatureAlgorithm) {
    case "EdDSA":
      return (
        bigIntFromLittleEndian(sha512(concatBytes(nonce.toBytes(), key.toBytes(), message))) % group.order
      );
    case "Taproot": {
      const tag = sha256(new TextEncoder().encode("BIP0340/challenge"));
      const x = (point: GroupPoint): Uint8Array => point.toBytes().subarray(1);
      return (
        bigIntFromBigEndian(sha256(concatBytes(tag, tag, x(nonce), x(key), sha256(message)))) % group.order
      );
    }
    case "Schnorrkel":
      return schnorrkelChallenge(key.toBytes(), nonce.toBytes(), message);
  }
}

function hasOddY(point: GroupPoint): boolean {
  return point.toBytes()[0] === 3;
}

/** The network uses the label of the DKG for signing too. */
const NONCE_LABEL = "DKG randomize decentralized party public key share and encryption of secret key share";
const STATISTICAL_LABEL = "statistically secure sized challenge used to mask challenge";

const SETTINGS: Readonly<Record<SchnorrAlgorithmName, { curve: CurveName; hash: HashName }>> = {
  Taproot: { curve: "SECP256K1", hash: "SHA256" },
  EdDSA: { curve: "ED25519", hash: "SHA512" },
  Schnorrkel: { curve: "RISTRETTO", hash: "Merlin" },
};
