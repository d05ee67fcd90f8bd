/** A half whose computation goes wrong is never returned. */
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createSignMessage } from "../../../src/crypto/create-sign-message.ts";
import { encryptShare } from "../../../src/crypto/encrypt-share.ts";
import { EngineError } from "../../../src/crypto/engine.ts";
import { ALGORITHM_TRIPLES } from "../../../src/protocol/algorithms.ts";
import type { Form, FormGroup } from "../../../src/protocol/class-groups/forms.ts";
import { curveByNumber } from "../../../src/protocol/proofs/curve.ts";
import { runSteps } from "../../../src/protocol/steps.ts";
import { environment } from "../../support/environment.ts";
import { makeOwnDWallet, ownNetwork } from "../../support/own-dwallet.ts";

/** The index of the wrong square and of the wrong product of forms, from zero. */
const fault = vi.hoisted(() => ({ square: -1, product: -1, squares: 0, products: 0 }));

vi.mock("../../../src/protocol/class-groups/forms.ts", async (importOriginal) => {
  const original = await importOriginal<typeof import("../../../src/protocol/class-groups/forms.ts")>();
  return {
    ...original,
    squareForm: (group: FormGroup, form: Form) => {
      const square = original.squareForm(group, form);
      return fault.squares++ === fault.square ? original.composeForms(group, square, form) : square;
    },
    composeForms: (group: FormGroup, left: Form, right: Form) => {
      const product = original.composeForms(group, left, right);
      return fault.products++ === fault.product ? original.squareForm(group, product) : product;
    },
  };
});

function inject(wrong: { readonly square?: number; readonly product?: number }): void {
  Object.assign(fault, { square: -1, product: -1, squares: 0, products: 0 }, wrong);
}

const network = ownNetwork(11);
const dwallet = makeOwnDWallet(network, 1);
const triple = ALGORITHM_TRIPLES.find(({ signatureAlgorithm }) => signatureAlgorithm === "ECDSASecp256r1")!;
const request = dwallet.request(triple, new Uint8Array(32).fill(1), new TextEncoder().encode("a message"));
const make = () => runSteps(createSignMessage(request));
let good: Uint8Array;
let counts: { readonly squares: number; readonly products: number };

beforeAll(() => {
  make();
  inject({});
  good = make();
  counts = { squares: fault.squares, products: fault.products };
});

/** Every second place; all of them in the reference run with Ika's own code. */
const someOf = (places: readonly number[]): readonly number[] =>
  places.filter((_, index) => environment.isReference || index % 2 === 0);

describe("an ECDSA half", () => {
  // The squares are those of the derived ciphertexts, of six ladders of 1198 rungs, of four products, and of the check.
  test.each(someOf([0, 0.02, 0.1, 0.1251, 0.13, 0.2, 0.27, 0.4, 0.55, 0.7, 0.85, 0.95]))(
    "is not returned after a wrong squaring at %d of the way",
    (part) => {
      inject({ square: Math.floor(part * counts.squares) });
      expect(make).toThrow(EngineError);
    },
  );

  test("is correct again after a failed one", () => {
    inject({ square: Math.floor(counts.squares / 2) });
    expect(make).toThrow(EngineError);
    inject({});
    expect(make()).toEqual(good);
  });

  test.each(someOf([0.01, 0.1, 0.25, 0.4, 0.55, 0.7, 0.8]))(
    "is not returned after a wrong composition at %d of the way",
    (part) => {
      inject({ product: Math.floor(part * counts.products) });
      expect(make).toThrow(EngineError);
    },
  );

  test("is not returned after a wrong rung of a cached ladder, and the ladder is dropped", () => {
    const other = makeOwnDWallet(ownNetwork(12), 1);
    const fresh = other.request(triple, new Uint8Array(32).fill(1), request.message);
    // After the derived ciphertexts, the ladders of h and of the encryption key are built first; h's is cached.
    inject({ square: 1_100 + 500 });
    expect(() => runSteps(createSignMessage(fresh))).toThrow(EngineError);
    inject({});
    expect(runSteps(createSignMessage(fresh))).toHaveLength(7144);
  });
});

test("an encrypted share is not returned after a wrong squaring, and the next one is correct", () => {
  const encrypt = () => runSteps(encryptShare(curveByNumber(1), dwallet.keypair.encryptionKey, 5n));
  inject({ square: 100 });
  expect(encrypt).toThrow(EngineError);
  inject({});
  expect(encrypt()).toHaveLength(1296);
});
