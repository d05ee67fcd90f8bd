import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import type { CurveName, HashName, SignatureAlgorithmName } from "../algorithms.ts";
import {
  bigIntFromBigEndian,
  bigIntFromLittleEndian,
  bigIntToLittleEndian,
  byteReader,
  MalformedBytesError,
} from "../bytes.ts";
import { parseDWalletOutput } from "../dwallet-output.ts";
import { PRESIGN_VERSION, presignVersion } from "../presign-version.ts";
import { type CurveGroup, curveGroup, type GroupPoint } from "./curve-group.ts";
import { createTranscript } from "./merlin.ts";
import { isEcdsa } from "./signature-forms.ts";
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
interface SchnorrRequest {
  readonly signatureAlgorithm: SchnorrAlgorithmName;
  readonly dwalletOutput: Uint8Array;
  readonly presign: Uint8Array;
  /** The message before hashing. */
  readonly message: Uint8Array;
}

/** A user's half of a Schnorr-family signature with all public inputs that it depends on. */
interface PartialSignatureClaim extends SchnorrRequest {
  readonly userSignMessage: Uint8Array;
}

/** The terms of the user's half once the nonce is fixed: z_A = k_A + e * x_A, with signs. */
interface PartialSignatureTerms {
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

/** The user's half of a Schnorr-family signature. */
interface PartialSignature {
  /** K_A, the user's public nonce. */
  readonly nonce: GroupPoint;
  /** z_A. */
  readonly response: bigint;
}

/**
 * Checks the layout of a user's sign message without its proofs: version, lengths, points on the curve, and the vectors
 * of the leading ciphertexts.
 * ECDSA: 00 | vec(R | R_B | C_k | C_alpha | C_beta | C_kx | ct_A | ct_ab | eight proofs), 7,144 bytes.
 * Schnorr family: 00 | vec(K_A | z_A), 69 bytes for Taproot, else 66. Throws MalformedBytesError.
 */
export function checkSignMessageLayout(
  curve: CurveName,
  signatureAlgorithm: SignatureAlgorithmName,
  userSignMessage: Uint8Array,
): void {
  if (!isEcdsa(signatureAlgorithm)) {
    parsePartialSignature(curve, userSignMessage);
    return;
  }
  if (userSignMessage.length !== ECDSA_MESSAGE_BYTES) {
    throw new MalformedBytesError(
      `user sign message: ${ECDSA_MESSAGE_BYTES} bytes, not ${userSignMessage.length}`,
    );
  }
  const body = byteReader(openMessage(userSignMessage), "user sign message");
  const { readPoint } = curveGroup(curve);
  for (let point = 0; point < 6; point++) readPoint(body);
  for (let form = 0; form < 4; form++) body.vector(FORM_BYTES);
}

/** Reads the user's half of a Schnorr-family signature. Throws MalformedBytesError. */
export function parsePartialSignature(curve: CurveName, userSignMessage: Uint8Array): PartialSignature {
  const { readPoint, readScalar } = curveGroup(curve);
  const body = byteReader(openMessage(userSignMessage), "user sign message");
  const nonce = readPoint(body);
  const response = readScalar(body);
  body.end();
  return { nonce, response };
}

function openMessage(userSignMessage: Uint8Array): Uint8Array {
  const outer = byteReader(userSignMessage, "user sign message");
  if (outer.uint8() !== 0) throw new MalformedBytesError("user sign message: unknown version");
  const body = outer.vector();
  outer.end();
  return body;
}

const ECDSA_MESSAGE_BYTES = 7144;
const FORM_BYTES = 256;

/**
 * Returns the curve's public parameters as the protocol's transcripts absorb them: JSON with an indent of two. Checked
 * against ika-wasm 0.2.1: its partial signatures verify under transcripts with this text.
 */
function groupParametersJson(curve: CurveName): string {
  const { name, type, modulus, a, b } = SHAPES[curve];
  const { order, base } = curveGroup(curve);
  return prettyJson({
    name,
    curve_type: type,
    order: hex(order),
    modulus: hex(modulus),
    generator: groupPointJson(curve, base),
    curve_equation_a: hex(a),
    curve_equation_b: hex(b),
  });
}

/** Encodes a point in a transcript's JSON: upper-case hex on the secp curves, an array of bytes on the others. */
function groupPointJson(curve: CurveName, point: GroupPoint): string | number[] {
  const bytes = point.toBytes();
  return curveGroup(curve).isSecp ? bytesToHex(bytes).toUpperCase() : [...bytes];
}

/** Encodes JSON as transcripts absorb it: indented by two spaces. */
function prettyJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** Returns the lower-case hex of 32 little-endian bytes. */
function hex(value: bigint): string {
  return bytesToHex(bigIntToLittleEndian(value, 32));
}

interface Shape {
  readonly name: string;
  readonly type: "Weierstrass" | "Montgomery";
  readonly modulus: bigint;
  readonly a: bigint;
  readonly b: bigint;
}

/** Curve25519 in its Montgomery form, y^2 = x^3 + 486662 x^2 + x. */
const CURVE25519 = { type: "Montgomery", modulus: ed25519.Point.Fp.ORDER, a: 486_662n, b: 1n } as const;
const K1 = secp256k1.Point.CURVE();
const R1 = p256.Point.CURVE();

const SHAPES: Readonly<Record<CurveName, Shape>> = {
  SECP256K1: { name: "Secp256k1", type: "Weierstrass", modulus: K1.p, a: K1.a, b: K1.b },
  SECP256R1: { name: "secp256r1", type: "Weierstrass", modulus: R1.p, a: R1.a, b: R1.b },
  ED25519: { name: "Curve25519", ...CURVE25519 },
  RISTRETTO: { name: "Ristretto", ...CURVE25519 },
};
