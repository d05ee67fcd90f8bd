import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { bigIntFromBigEndian, bigIntToBigEndian, concatBytes } from "../../protocol/bytes.ts";
import { floorMod, invertMod } from "../../protocol/class-groups/integers.ts";
import type { Ciphertext } from "../../protocol/parameters/network-key-output.ts";
import { type Curve, type CurvePoint, pointBytes, scale, scaleBase } from "../../protocol/proofs/curve.ts";
import { rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import { combineCiphertexts } from "./ciphertext.ts";
import type { DWalletShares } from "./dwallet-output.ts";
import {
  DISPLACED_NONCE_PROOF,
  PARTIAL_SIGNATURE_PROOF,
  verifyLinearEvaluation,
} from "./ecdsa-linear-proofs.ts";
import { decodeEcdsaSignMessage, type EcdsaSignMessage } from "./ecdsa-message.ts";
import {
  verifyProofAlpha,
  verifyProofBeta,
  verifyProofDisplacedNonce,
  verifyProofK,
  verifyProofKx,
  verifyProofNonce,
} from "./ecdsa-point-proofs.ts";
import { nonceRandomizers } from "./ecdsa-randomizers.ts";
import type { NetworkKey } from "./network-key.ts";
import type { Presign } from "./presign.ts";
import type { SignContext } from "./sign-context.ts";

/** The hashes of ECDSA. */
export type EcdsaHash = "KECCAK256" | "SHA256" | "DoubleSHA256";

/**
 * Completes an ECDSA signature: checks the eight proofs of the user's message, decrypts g*(a*k') and g*s*(a*k'), and
 * divides. Returns v | r | s with s in the lower half and v = 0..3 (Ethereum's recovery id): 65 bytes.
 * Throws a verdict if anything about the message is wrong.
 */
export function signEcdsa(
  key: NetworkKey,
  hash: EcdsaHash,
  dwallet: DWalletShares,
  presign: Presign,
  message: Uint8Array,
  userSignMessage: Uint8Array,
): Uint8Array {
  const { curve } = key;
  const { order } = curve;
  const context: SignContext = { curve, dwallet, presign };
  const userMessage = decodeEcdsaSignMessage(curve, userSignMessage);
  const digest = bigIntFromBigEndian(DIGEST[hash](message)) % order;
  const { x, isYOdd } = coordinates(userMessage.nonce);
  const r = x % order;
  rejectUnless(r !== 0n, "nonce has x = 0");
  verifyProofs(context, key, userMessage, digest, r);

  const denominator = key.decrypt(userMessage.displacedNonceShare);
  const numerator = key.decrypt(userMessage.partialSignature);
  rejectUnless(denominator !== 0n && numerator !== 0n, "signature is zero");
  const displaced = floorMod(denominator * invertMod(presign.secrets.mask, order), order);
  const bound = scaleBase(curve, displaced).equals(userMessage.displacedNonce);
  rejectUnless(bound, "user sign message is not for this presign");
  const s = floorMod(numerator * invertMod(denominator, order), order);
  rejectUnless(
    verifies(curve, dwallet.publicKey, digest, userMessage.nonce, r, s),
    "signature does not verify",
  );

  const isHigh = s > order / 2n;
  const recovery = (isYOdd !== isHigh ? 1 : 0) + (x >= order ? 2 : 0);
  const lowS = isHigh ? order - s : s;
  return concatBytes(Uint8Array.of(recovery), bigIntToBigEndian(r, 32), bigIntToBigEndian(lowS, 32));
}

function verifyProofs(
  context: SignContext,
  key: NetworkKey,
  message: EcdsaSignMessage,
  digest: bigint,
  r: bigint,
): void {
  const { curve, dwallet, presign } = context;
  verifyProofK(context, message);
  verifyProofAlpha(context, message);
  verifyProofBeta(context, message);
  verifyProofKx(context, message);
  verifyProofNonce(context, message);

  const [mask, ...masked] = presign.ciphertexts as [
    Ciphertext,
    Ciphertext,
    Ciphertext,
    Ciphertext,
    Ciphertext,
  ];
  const combine = (pair: readonly [Ciphertext, Ciphertext], weights: readonly [bigint, bigint, bigint]) =>
    combineCiphertexts(curve, [
      { ciphertext: pair[0], weight: weights[0] },
      { ciphertext: pair[1], weight: weights[1] },
      { ciphertext: mask, weight: weights[2] },
    ]);
  const maskedKeyShare = combine([masked[0], masked[1]], dwallet.randomizers);
  const weights = nonceRandomizers(context, message, digest, maskedKeyShare);
  const networkNonce = scale(curve, presign.noncePoints[0], weights[0])
    .add(scale(curve, presign.noncePoints[1], weights[1]))
    .add(scaleBase(curve, weights[2]));
  rejectUnless(!networkNonce.equals(curve.zero), "network's nonce is the neutral point");
  verifyProofDisplacedNonce(context, message, networkNonce);

  // What the two ciphertexts' coefficients are committed to follows from the four commitments (homomorphically):
  // a partial signature r*k*x_A + m*k and r*k, a displaced nonce share beta and alpha.
  const commitRk = scale(curve, message.commitK, r);
  const commitSignature = scale(curve, message.commitKx, r).add(scale(curve, message.commitK, digest));
  verifyLinearEvaluation(
    context,
    key,
    PARTIAL_SIGNATURE_PROOF,
    {
      ciphertext: message.partialSignature,
      inputs: [mask, maskedKeyShare],
      commitments: [commitSignature, commitRk],
    },
    message.proofPartialSignature,
  );
  verifyLinearEvaluation(
    context,
    key,
    DISPLACED_NONCE_PROOF,
    {
      ciphertext: message.displacedNonceShare,
      inputs: [mask, combine([masked[2], masked[3]], weights)],
      commitments: [message.commitBeta, message.commitAlpha],
    },
    message.proofDisplacedNonceShare,
  );
}

const DIGEST: Record<EcdsaHash, (message: Uint8Array) => Uint8Array> = {
  KECCAK256: (message) => keccak_256(message),
  SHA256: (message) => sha256(message),
  DoubleSHA256: (message) => sha256(sha256(message)),
};

/** From the compressed SEC1 encoding. */
function coordinates(point: CurvePoint): { x: bigint; isYOdd: boolean } {
  const bytes = pointBytes(point);
  return { x: bigIntFromBigEndian(bytes.subarray(1)), isYOdd: bytes[0] === 3 };
}

/** (m*G + r*X) / s = R: the signature equation, with the nonce at hand. */
function verifies(
  curve: Curve,
  publicKey: CurvePoint,
  digest: bigint,
  nonce: CurvePoint,
  r: bigint,
  s: bigint,
): boolean {
  return scale(curve, nonce, s).equals(scaleBase(curve, digest).add(scale(curve, publicKey, r)));
}
