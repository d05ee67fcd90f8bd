import { bigIntFromLittleEndian } from "../../protocol/bytes.ts";
import type { Steps } from "../../protocol/chain/read-errors.ts";
import { scalarToForm } from "../../protocol/class-groups/class-group.ts";
import { ladderProduct, type PowerLadder, powerLadder } from "../../protocol/class-groups/exponentiation.ts";
import { composeForms, type Form } from "../../protocol/class-groups/forms.ts";
import { decodeEncryptionKey } from "../../protocol/class-groups/keypair.ts";
import { fromMaximalOrder, type OrderClass } from "../../protocol/class-groups/maximal-order.ts";
import type { Ciphertext } from "../../protocol/parameters/network-key-output.ts";
import { type CurveArithmetic, scaleBase } from "../../protocol/proofs/curve.ts";
import type { ProofContext } from "../../protocol/proofs/dkg-transcripts.ts";
import {
  type EncryptedShareAndProof,
  encodeEncryptedShare,
  encryptedShareChallenge,
  verifyEncryptedShare,
} from "../../protocol/proofs/encrypted-share.ts";
import { EngineError } from "./engine.ts";
import { forgetLadders, knownLadder } from "./known-network-key.ts";
import { MASK_BITS, maskedResponse, RANDOMNESS_BITS } from "./prove-evaluation.ts";
import { randomScalar } from "./random-scalar.ts";

/**
 * Encrypts the share under a class-groups key and proves that it is the discrete logarithm of the public share. Each
 * call draws new randomness. Verifies the result. Takes about a tenth of a second. Throws MalformedBytesError or
 * InvalidFormError for a malformed key, and EngineError if the result fails its check.
 */
export function* encryptShare(
  curve: CurveArithmetic,
  encryptionKeyBytes: Uint8Array,
  share: bigint,
): Steps<Uint8Array> {
  const encryptionKey = decodeEncryptionKey(curve.group, encryptionKeyBytes);
  return encodeEncryptedShare(curve, yield* proveEncryption(curve, encryptionKey, share, null));
}

/**
 * Encrypts a share with a Maurer proof for (Enc(x; r), x*G), in the given place of the protocol. Throws EngineError if
 * the result fails its check.
 */
export function* proveEncryption(
  curve: CurveArithmetic,
  encryptionKey: Form,
  share: bigint,
  context: ProofContext | null,
): Steps<EncryptedShareAndProof> {
  const { group } = curve;
  const ladders = [
    yield* knownLadder(curve, group.h),
    yield* powerLadder(group, encryptionKey, MASK_BITS),
  ] as const;
  const publicShare = scaleBase(curve, share);
  const randomness = randomInteger(RANDOMNESS_BITS);
  const ciphertext = yield* encrypt(curve, ladders, share, randomness);
  const scalarMask = randomScalar(curve);
  const randomnessMask = randomInteger(MASK_BITS);
  const maskCiphertext = yield* encrypt(curve, ladders, scalarMask, randomnessMask);
  const maskPoint = scaleBase(curve, scalarMask);
  const masks = { maskCiphertext, maskPoint, ciphertext };
  const challenge = encryptedShareChallenge(curve, encryptionKey, publicShare, masks, context);
  const message = {
    ...masks,
    scalarResponse: (scalarMask + challenge * share) % curve.order,
    randomnessResponse: maskedResponse(randomnessMask, challenge, randomness, RANDOMNESS_BITS),
  };
  yield;
  try {
    verifyEncryptedShare(curve, encryptionKey, publicShare, message, context);
  } catch (cause) {
    forgetLadders(group.h);
    throw new EngineError("share encryption: the result failed its check; nothing was sent", { cause });
  }
  return message;
}

/** Encrypts m as (h^r, f^m * ek^r). */
function* encrypt(
  { group }: CurveArithmetic,
  [h, ek]: readonly [PowerLadder, PowerLadder],
  scalar: bigint,
  randomness: bigint,
): Steps<Ciphertext> {
  const first = yield* ladderProduct(group, [{ ladder: h, exponent: randomness }]);
  const mask = yield* ladderProduct(group, [{ ladder: ek, exponent: randomness }]);
  const form = (one: OrderClass): Form => fromMaximalOrder(group, one);
  return [form(first), composeForms(group, scalarToForm(group, scalar), form(mask))];
}

function randomInteger(bits: number): bigint {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(Math.ceil(bits / 8)));
  const integer = BigInt.asUintN(bits, bigIntFromLittleEndian(bytes));
  bytes.fill(0);
  return integer;
}
