import { bigIntFromLittleEndian } from "../protocol/bytes.ts";
import { multiPower, type PowerTerm } from "../protocol/class-groups/exponentiation.ts";
import {
  composeForms,
  equalForms,
  type Form,
  type FormGroup,
  squareForm,
} from "../protocol/class-groups/forms.ts";
import { type LadderTerm, ladderProduct, type PowerLadder } from "../protocol/class-groups/power-ladder.ts";
import type { Ciphertext } from "../protocol/parameters/network-key-output.ts";
import type { CiphertextTerm } from "../protocol/proofs/ciphertext.ts";
import {
  type DerivedCiphertexts,
  ecdsaEquations,
  maskedKeyShareTerms,
  maskedNonceShareTerms,
} from "../protocol/proofs/ecdsa-equations.ts";
import { decodeEcdsaSignMessage } from "../protocol/proofs/ecdsa-message.ts";
import { combineEquations, type PartEquation, pointSum } from "../protocol/proofs/equations.ts";
import { rejectionReason, rejectUnless } from "../protocol/proofs/rejected-input.ts";
import type { SignContext } from "../protocol/proofs/sign-context.ts";
import type { Steps } from "../protocol/steps.ts";
import { EngineError } from "./engine.ts";
import type { Part } from "./part-split.ts";

/** What the prover made on its way. */
export interface ProverState {
  /** The ciphertexts that it derived from the presign. */
  readonly maskedKeyShare: Ciphertext;
  readonly maskedNonceShare: Ciphertext;
  /** Every ladder that it raised a base with. */
  readonly ladders: readonly PowerLadder[];
  /** The parts of the ciphertexts that this thread made and checks. */
  readonly parts: readonly Part[];
}

/**
 * Checks a finished message as the network will: from its bytes, with all eight proofs, but all equations in one
 * random combination for each group. Of two threads each checks the class group's equations of its own parts, and every
 * other one of the curve's. A computation that went wrong so spends no presign, and gives nothing away:
 * since a repeat has the same nonces, a wrong message beside the right one could. Throws EngineError.
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
    const isNeutral = equalForms(product, curve.group.identity);
    if (isNeutral && pointSum(curve, combination.points).equals(curve.zero)) return;
  } catch (error) {
    if (rejectionReason(error) === undefined) throw error;
  }
  throw new EngineError("sign message: the computation went wrong; nothing was sent");
}

/** The claimed combination, taken away from what it is said to be, is the neutral class in both parts. */
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
 * The product of all powers, with the prover's ladders. A wrong rung in one does not go unseen: the response that is
 * raised to is not the sum of what the prover raised to, bit by bit, but has carries, which reach over the rung unless
 * all bits below are zero. The lowest rungs, where that may be, are squared again.
 */
function* productOnLadders(
  group: FormGroup,
  terms: readonly PowerTerm[],
  ladders: readonly PowerLadder[],
): Steps<Form> {
  const ladderOf = new Map(ladders.map((ladder) => [ladder[0], ladder]));
  const onLadders: LadderTerm[] = [];
  const others: PowerTerm[] = [];
  for (const term of terms) {
    const ladder = ladderOf.get(term.base);
    if (ladder === undefined || term.exponent < 0n) {
      others.push(term);
      continue;
    }
    // Weighted exponents are somewhat longer than the ladder.
    const bits = ladder.length - 1;
    onLadders.push({ ladder, exponent: BigInt.asUintN(bits, term.exponent) });
    others.push({ base: ladder[bits]!, exponent: term.exponent >> BigInt(bits) });
  }
  for (const ladder of ladders) {
    for (let rung = 0; rung < LOW_RUNGS; rung++) {
      const isSquare = equalForms(squareForm(group, ladder[rung]!), ladder[rung + 1]!);
      rejectUnless(isSquare, "a ladder's rung is not the square of the one below");
    }
  }
  const product = yield* ladderProduct(group, onLadders);
  yield;
  return composeForms(group, product, multiPower(group, others));
}

const LOW_RUNGS = 8;

function randomWeight(): bigint {
  return bigIntFromLittleEndian(globalThis.crypto.getRandomValues(new Uint8Array(4)));
}
