import { type AlgorithmTriple, findTripleByNumbers } from "../../protocol/algorithms.ts";
import { equalBytes } from "../../protocol/bytes.ts";
import { type DWalletOutput, decodeUserShare, parseDWalletOutput } from "../../protocol/dwallet-output.ts";
import {
  type CurveArithmetic,
  type CurvePoint,
  curveByNumber,
  decodePoint,
  pointBytes,
  scaleBase,
} from "../../protocol/proofs/curve.ts";
import type { NetworkKeyParts } from "../../protocol/proofs/network-key-parts.ts";
import {
  DWALLET_PRESIGN_WEIGHTS,
  type PresignFamily,
  type PublicPresign,
  readDwalletPresign,
  readPresign,
} from "../../protocol/proofs/presign.ts";
import { rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import type { SignContext } from "../../protocol/proofs/transcript.ts";
import { isEcdsa } from "../../protocol/signatures/signature-forms.ts";
import { deriveSignRandomness, type SignRandomness } from "./derive-sign-randomness.ts";
import { knownNetworkKey } from "./known-network-key.ts";

/**
 * Decodes a sign request. The dWallet and the presign must be bound to the network key in the parameters, or the presign
 * to the imported key, and the share must belong to the dWallet. Throws MalformedBytesError, InvalidFormError or RejectedInput.
 */
export function openSignRequest(request: SignRequest): OpenSignRequest {
  const { triple, dwalletOutput, parameters } = request;
  const { curveNumber, signatureAlgorithmNumber, hashNumber } = triple;
  const named = findTripleByNumbers(curveNumber, signatureAlgorithmNumber, hashNumber);
  // The nonces depend on the numbers and the challenge on the names, so both must agree.
  rejectUnless(
    named?.curve === triple.curve &&
      named.signatureAlgorithm === triple.signatureAlgorithm &&
      named.hash === triple.hash,
    "the algorithm's names do not match its numbers",
  );
  const curve = curveByNumber(curveNumber);
  const key = knownNetworkKey(curve, parameters);
  const dwallet = parseDWalletOutput(triple.curve, dwalletOutput);
  const family = isEcdsa(triple.signatureAlgorithm) ? "ecdsa" : "schnorr";
  const { derivation } = dwallet;
  const isOfKey = derivation === undefined || equalBytes(derivation.commitment, key.commitment);
  rejectUnless(isOfKey, "the dWallet belongs to another network key");
  const publicKey = decodePoint(curve, dwallet.publicKey, "public key");
  const presign =
    family === "ecdsa" && derivation === undefined
      ? readOwnPresign(curve, publicKey, request.presign)
      : readGlobalPresign(curve, family, key, request.presign);
  const { share, randomness } = derive(request, curve, key);
  // A multiple of the base point is in the prime-order group, so X_A needs no check of its own.
  const userPublicShare = scaleBase(curve, share);
  const isOfDwallet = equalBytes(pointBytes(userPublicShare), dwallet.userPublicShare.toBytes());
  rejectUnless(isOfDwallet, "the share does not belong to the dWallet");
  return {
    curve,
    share,
    dwallet,
    publicKey,
    userPublicShare,
    presign,
    key,
    randomness,
  };
}

/** Reads an ECDSA presign of an imported key, which no other dWallet can use. */
function readOwnPresign(
  curve: CurveArithmetic,
  publicKey: CurvePoint,
  bytes: Uint8Array,
): OpenSignRequest["presign"] {
  const presign = readDwalletPresign(curve, bytes);
  rejectUnless(presign.publicKey.equals(publicKey), "the presign belongs to another dWallet");
  return presign;
}

/** Reads a presign that any dWallet of the network key can use. */
function readGlobalPresign(
  curve: CurveArithmetic,
  family: PresignFamily,
  key: NetworkKeyParts,
  bytes: Uint8Array,
): OpenSignRequest["presign"] {
  const presign = readPresign(curve, family, bytes);
  rejectUnless(equalBytes(presign.commitment, key.commitment), "the presign belongs to another network key");
  return presign;
}

/** Returns whether all numbers drawn so far are those of this request, which it derives again. */
export function isDerivedFrom(randomness: SignRandomness, request: SignRequest): boolean {
  const curve = curveByNumber(request.triple.curveNumber);
  const again = derive(request, curve, knownNetworkKey(curve, request.parameters)).randomness;
  const isEqual = randomness.isEqualTo(again);
  again.destroy();
  return isEqual;
}

function derive(
  request: SignRequest,
  curve: CurveArithmetic,
  { commitment }: NetworkKeyParts,
): Pick<OpenSignRequest, "share" | "randomness"> {
  const share = decodeUserShare(request.triple.curve, request.userSecretKeyShare);
  return { share, randomness: deriveSignRandomness(curve, { ...request, share, commitment }) };
}

/** The inputs of a user's half of one signature. */
export interface SignRequest {
  readonly triple: AlgorithmTriple;
  readonly parameters: Uint8Array;
  readonly dwalletOutput: Uint8Array;
  /** 00 | vec(scalar). Not kept after the call. */
  readonly userSecretKeyShare: Uint8Array;
  readonly presign: Uint8Array;
  /** The message before hashing. */
  readonly message: Uint8Array;
}

/** A decoded sign request whose parts belong together. */
export interface OpenSignRequest {
  readonly curve: CurveArithmetic;
  /** x_A. Secret. */
  readonly share: bigint;
  readonly dwallet: DWalletOutput;
  readonly publicKey: CurvePoint;
  /** X_A. */
  readonly userPublicShare: CurvePoint;
  readonly presign: Pick<PublicPresign, "sessionId" | "ciphertexts" | "noncePoints">;
  readonly key: NetworkKeyParts;
  /** The caller destroys it. */
  readonly randomness: SignRandomness;
}

/** Returns the context of an ECDSA message's proofs. */
export function signContext(opened: OpenSignRequest): SignContext {
  const { curve, publicKey, userPublicShare, dwallet, presign } = opened;
  const randomizers = dwallet.derivation?.randomizers ?? DWALLET_PRESIGN_WEIGHTS;
  return { curve, dwallet: { publicKey, userPublicShare, randomizers }, presign };
}
