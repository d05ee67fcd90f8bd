import { bigIntFromLittleEndian } from "../../protocol/bytes.ts";
import type { Steps } from "../../protocol/chain/read-errors.ts";
import {
  type ClassTerm,
  classTerms,
  type LadderTerm,
  ladderProduct,
  type PowerLadder,
  type PowerTerm,
  productOfPowers,
} from "../../protocol/class-groups/exponentiation.ts";
import { equalForms, type Form } from "../../protocol/class-groups/forms.ts";
import {
  composeClasses,
  equalClasses,
  fromMaximalOrder,
  isNeutralClass,
  type OrderClass,
  type OrderGroup,
  squareClass,
} from "../../protocol/class-groups/maximal-order.ts";
import type { Ciphertext } from "../../protocol/parameters/network-key-output.ts";
import {
  type DerivedCiphertexts,
  ecdsaEquations,
  maskedKeyShareTerms,
  maskedNonceShareTerms,
} from "../../protocol/proofs/ecdsa-equations.ts";
import { decodeEcdsaSignMessage } from "../../protocol/proofs/ecdsa-message.ts";
import { combineEquations, type PartEquation, pointSum } from "../../protocol/proofs/equations.ts";
import type { CiphertextTerm } from "../../protocol/proofs/message-parts.ts";
import { rejectionReason, rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import type { SignContext } from "../../protocol/proofs/transcript.ts";
import { EngineError } from "./engine.ts";
import type { Part } from "./part-split.ts";

/**
 * Checks a finished message as the network does: decodes the bytes and verifies all eight proofs. Unlike the network,
 * it combines all equations of each group into one random combination. If two threads share the work, each checks the
 * class-group equations of its own parts and half of the curve's equations. So a faulty computation spends no presign
 * and leaks nothing: without the check, a wrong and a right message with the same nonces could leak the share. Throws
 * EngineError.
 */
export function* checkEcdsaMessage(
  context: SignContext,
  encryptionKey: Form,
  bytes: Uint8Array,
  digest: bigint,
  claimed: ProverState,
): Steps<void> {
  const { curve } = context;
  const derivations = derivationEquations(maskedKeyShareTerms(context), claimed.maskedKeyShare);
  const derived: DerivedCiphertexts = {
    maskedKeyShare: claimed.maskedKeyShare,
    maskedNonceShare: (weights) => {
      const terms = maskedNonceShareTerms(context, weights);
      derivations.push(...derivationEquations(terms, claimed.maskedNonceShare));
      return claimed.maskedNonceShare;
    },
  };
  yield;
  try {
    const message = decodeEcdsaSignMessage(curve, bytes);
    const { points, forms } = ecdsaEquations(context, encryptionKey, message, digest, derived);
    yield;
    const own = [...forms, ...derivations].filter(({ part }) => claimed.parts.includes(part));
    const ownPoints = points.filter((_, index) => claimed.parts.includes((index % 2) as Part));
    const combination = combineEquations({ points: ownPoints, forms: own }, randomWeight);
    const product = yield* productOnLadders(curve.group, combination.forms, claimed.ladders);
    const isNeutral = isNeutralClass(curve.group, product);
    if (isNeutral && pointSum(curve, combination.points).equals(curve.zero)) return;
  } catch (error) {
    if (rejectionReason(error) === undefined) throw error;
  }
  throw new EngineError("sign message: the result failed its check; nothing was sent");
}

/** The intermediate results of the prover. */
export interface ProverState {
  /** The ciphertexts that the prover derived from the presign. */
  readonly maskedKeyShare: Ciphertext;
  readonly maskedNonceShare: Ciphertext;
  /** All ladders that the prover used. */
  readonly ladders: readonly PowerLadder[];
  /** The parts of the ciphertexts that this thread computed and checks. */
  readonly parts: readonly Part[];
}

/** Returns the equations that state that the claimed ciphertext is the combination of the terms, one for each part. */
function derivationEquations(terms: readonly CiphertextTerm[], claimed: Ciphertext): PartEquation[] {
  return ([0, 1] as const).map((part) => ({
    label: "derived ciphertext",
    part,
    terms: [
      ...terms.map(({ ciphertext, weight }) => ({ base: ciphertext[part], exponent: weight })),
      { base: claimed[part], exponent: -1n },
    ],
  }));
}

/**
 * Returns the product of all powers, with the prover's ladders. It still detects a wrong rung: the response in the
 * exponent is not the bitwise sum of the prover's exponents but has carries, which reach across the rung unless all
 * lower bits are zero. That can happen at the lowest rungs, so those are squared again, and the first is compared with
 * the base.
 */
function* productOnLadders(
  group: OrderGroup,
  terms: readonly PowerTerm[],
  ladders: readonly PowerLadder[],
): Steps<OrderClass> {
  // By value: the terms come from another copy of the request than the ladders.
  const ladderOf = (base: Form) => ladders.find((ladder) => equalForms(ladder.base, base));
  const onLadders: LadderTerm[] = [];
  const others: PowerTerm[] = [];
  const tops: ClassTerm[] = [];
  for (const term of terms) {
    const ladder = ladderOf(term.base);
    if (ladder === undefined || term.exponent < 0n) {
      others.push(term);
      continue;
    }
    // Weighted exponents are slightly longer than the ladder.
    const bits = ladder.rungs.length - 1;
    onLadders.push({ ladder, exponent: BigInt.asUintN(bits, term.exponent) });
    tops.push({ base: ladder.rungs[bits]!, exponent: term.exponent >> BigInt(bits) });
  }
  for (const { base, rungs } of ladders) {
    const isBase = equalForms(fromMaximalOrder(group, rungs[0]!), base);
    rejectUnless(isBase, "a ladder does not start with its base");
    for (let rung = 0; rung < LOW_RUNGS; rung++) {
      const isSquare = equalClasses(group, squareClass(group, rungs[rung]!), rungs[rung + 1]!);
      rejectUnless(isSquare, "a ladder's rung is not the square of the rung below");
    }
  }
  const product = yield* ladderProduct(group, onLadders);
  yield;
  return composeClasses(group, product, productOfPowers(group, [...classTerms(group, others), ...tops]));
}

const LOW_RUNGS = 8;

function randomWeight(): bigint {
  return bigIntFromLittleEndian(globalThis.crypto.getRandomValues(new Uint8Array(4)));
}
