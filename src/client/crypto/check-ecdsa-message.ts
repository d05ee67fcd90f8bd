import { bigIntFromLittleEndian } from "../../protocol/bytes.ts";
import type { Steps } from "../../protocol/chain/read-errors.ts";
import {
  type LadderTerm,
  ladderProduct,
  multiPower,
  type PowerLadder,
  type PowerTerm,
} from "../../protocol/class-groups/exponentiation.ts";
import {
  composeForms,
  equalForms,
  type Form,
  type FormGroup,
  squareForm,
} from "../../protocol/class-groups/forms.ts";
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
    const isNeutral = equalForms(product, curve.group.identity);
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
 * lower bits are zero. That can happen at the lowest rungs, so those are squared again.
 */
function* productOnLadders(
  group: FormGroup,
  terms: readonly PowerTerm[],
  ladders: readonly PowerLadder[],
): Steps<Form> {
  // By value: the terms come from another copy of the request than the ladders.
  const ladderOf = (base: Form) => ladders.find(([first]) => equalForms(first!, base));
  const onLadders: LadderTerm[] = [];
  const others: PowerTerm[] = [];
  for (const term of terms) {
    const ladder = ladderOf(term.base);
    if (ladder === undefined || term.exponent < 0n) {
      others.push(term);
      continue;
    }
    // Weighted exponents are slightly longer than the ladder.
    const bits = ladder.length - 1;
    onLadders.push({ ladder, exponent: BigInt.asUintN(bits, term.exponent) });
    others.push({ base: ladder[bits]!, exponent: term.exponent >> BigInt(bits) });
  }
  for (const ladder of ladders) {
    for (let rung = 0; rung < LOW_RUNGS; rung++) {
      const isSquare = equalForms(squareForm(group, ladder[rung]!), ladder[rung + 1]!);
      rejectUnless(isSquare, "a ladder's rung is not the square of the rung below");
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
