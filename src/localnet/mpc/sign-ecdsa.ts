import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { bigIntFromBigEndian, bigIntToBigEndian } from "../../protocol/bytes.ts";
import {
  type ClassTerm,
  classTerms,
  type PowerTerm,
  productOfPowers,
} from "../../protocol/class-groups/exponentiation.ts";
import type { Form } from "../../protocol/class-groups/forms.ts";
import { floorMod, invertMod } from "../../protocol/class-groups/integers.ts";
import {
  composeClasses,
  fromMaximalOrder,
  type OrderClass,
} from "../../protocol/class-groups/maximal-order.ts";
import {
  type CurveArithmetic,
  type CurvePoint,
  pointBytes,
  scale,
  scaleBase,
} from "../../protocol/proofs/curve.ts";
import {
  ecdsaEquations,
  maskedKeyShareTerms,
  maskedNonceShareTerms,
} from "../../protocol/proofs/ecdsa-equations.ts";
import { decodeEcdsaSignMessage, type EcdsaSignMessage } from "../../protocol/proofs/ecdsa-message.ts";
import { checkEach } from "../../protocol/proofs/equations.ts";
import { combineCiphertexts } from "../../protocol/proofs/message-parts.ts";
import { rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import type { SignContext } from "../../protocol/proofs/transcript.ts";
import type { DWalletShares } from "./dwallet-shares.ts";
import { fixedBaseFactors } from "./fixed-base.ts";
import type { CurveNetworkKey } from "./network-key.ts";
import type { Presign } from "./presign.ts";

/**
 * Completes an ECDSA signature: verifies the eight proofs of the user's message, decrypts g*(a*k') and g*s*(a*k'), and
 * divides. Returns v | r | s, 65 bytes, with s in the lower half and v = 0..3 (Ethereum's recovery id).
 * Throws an error with a rejectionReason for an invalid message.
 */
export function signEcdsa(
  key: CurveNetworkKey,
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
  verifyProofs(context, key, userMessage, digest);

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

export type EcdsaHash = "KECCAK256" | "SHA256" | "DoubleSHA256";

/**
 * Verifies the proofs. Computes everything that depends on a dWallet's randomisers or a message's weights itself and
 * trusts no claim of the user.
 */
function verifyProofs(
  context: SignContext,
  key: CurveNetworkKey,
  message: EcdsaSignMessage,
  digest: bigint,
): void {
  const { curve } = context;
  const equations = ecdsaEquations(context, key.encryptionKey, message, digest, {
    maskedKeyShare: combineCiphertexts(curve, maskedKeyShareTerms(context)),
    maskedNonceShare: (weights) => combineCiphertexts(curve, maskedNonceShareTerms(context, weights)),
  });
  checkEach(curve, equations, (terms) => productWithTables(key, terms));
}

/** Returns a product of powers. Uses the network's tables for powers of h and of its encryption key. */
function productWithTables(
  { curve, h, ek, encryptionKey }: CurveNetworkKey,
  terms: readonly PowerTerm[],
): Form {
  const { group } = curve;
  const others: PowerTerm[] = [];
  const highs: ClassTerm[] = [];
  const powers: OrderClass[] = [];
  for (const term of terms) {
    const table = term.base === group.h ? h : term.base === encryptionKey ? ek : undefined;
    if (table === undefined) {
      others.push(term);
      continue;
    }
    const { power, rest } = fixedBaseFactors(group, table, term.exponent);
    powers.push(power);
    highs.push(rest);
  }
  const product = productOfPowers(group, [...classTerms(group, others), ...highs]);
  return fromMaximalOrder(
    group,
    powers.reduce((left, right) => composeClasses(group, left, right), product),
  );
}

const DIGEST: Record<EcdsaHash, (message: Uint8Array) => Uint8Array> = {
  KECCAK256: (message) => keccak_256(message),
  SHA256: (message) => sha256(message),
  DoubleSHA256: (message) => sha256(sha256(message)),
};

/** Reads x and the parity of y from the compressed SEC1 encoding. */
function coordinates(point: CurvePoint): { x: bigint; isYOdd: boolean } {
  const bytes = pointBytes(point);
  return { x: bigIntFromBigEndian(bytes.subarray(1)), isYOdd: bytes[0] === 3 };
}

/** Checks the signature equation (m*G + r*X) / s = R with the known nonce. */
function verifies(
  curve: CurveArithmetic,
  publicKey: CurvePoint,
  digest: bigint,
  nonce: CurvePoint,
  r: bigint,
  s: bigint,
): boolean {
  return scale(curve, nonce, s).equals(scaleBase(curve, digest).add(scale(curve, publicKey, r)));
}
