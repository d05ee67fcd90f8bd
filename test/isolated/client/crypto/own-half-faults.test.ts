/** A half whose computation goes wrong is never returned. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createSignMessage } from "../../../../src/client/crypto/create-sign-message.ts";
import { encryptShare } from "../../../../src/client/crypto/encrypt-share.ts";
import { type CryptoEngine, EngineError } from "../../../../src/client/crypto/engine.ts";
import { nodeEngineThread, nodeThreads } from "../../../../src/client/crypto/engines/engine-thread.ts";
import { createInlineEngine } from "../../../../src/client/crypto/engines/inline-engine.ts";
import { createWorkerEngineOn } from "../../../../src/client/crypto/engines/worker-engine-on.ts";
import { SecretBytes } from "../../../../src/client/crypto/secret-bytes.ts";
import type { SignRequest } from "../../../../src/client/crypto/sign-request.ts";
import { ALGORITHM_TRIPLES, type AlgorithmTriple } from "../../../../src/protocol/algorithms.ts";
import { runSteps } from "../../../../src/protocol/chain/read-errors.ts";
import type { Form } from "../../../../src/protocol/class-groups/forms.ts";
import type { OrderClass, OrderGroup } from "../../../../src/protocol/class-groups/maximal-order.ts";
import { curveByNumber } from "../../../../src/protocol/proofs/curve.ts";
import { withoutTables } from "../../../../src/protocol/proofs/parameters-ends.ts";
import { countPlaces, type InputFlip, setFlip } from "../../../support/crypto/flip-input.ts";
import { makeOwnDWallet, ownNetwork } from "../../../support/crypto/own-dwallet.ts";
import { atNight, environment } from "../../../support/environment.ts";

/** The index of the wrong square, of the wrong product of forms and of the wrong random number, from zero. */
const fault = vi.hoisted(() => ({
  square: -1,
  /** True if the wrong square has no residue, rather than that of another class. */
  isLost: false,
  product: -1,
  number: -1,
  base: -1,
  squares: 0,
  products: 0,
  numbers: 0,
  bases: 0,
}));

vi.mock("@noble/hashes/hkdf.js", async (importOriginal) => {
  const original = await importOriginal<typeof import("@noble/hashes/hkdf.js")>();
  return {
    ...original,
    expand: (...args: Parameters<typeof original.expand>) => {
      const bytes = original.expand(...args);
      if (fault.numbers++ === fault.number) bytes[bytes.length >> 1]! ^= 1;
      return bytes;
    },
  };
});

vi.mock("../../../../src/protocol/class-groups/maximal-order.ts", async (importOriginal) => {
  type Original = typeof import("../../../../src/protocol/class-groups/maximal-order.ts");
  const original = await importOriginal<Original>();
  return {
    ...original,
    toMaximalOrder: (group: OrderGroup, form: Form) => {
      const one = original.toMaximalOrder(group, form);
      return fault.bases++ === fault.base ? { ...one, v: one.v + 1n } : one;
    },
    squareClass: (group: OrderGroup, one: OrderClass) => {
      const square = original.squareClass(group, one);
      if (fault.squares++ !== fault.square) return square;
      return fault.isLost ? { ...square, u: 0n } : original.composeClasses(group, square, one);
    },
    composeClasses: (group: OrderGroup, left: OrderClass, right: OrderClass) => {
      const product = original.composeClasses(group, left, right);
      return fault.products++ === fault.product ? original.squareClass(group, product) : product;
    },
  };
});

function inject(wrong: {
  readonly square?: number;
  readonly isLost?: boolean;
  readonly product?: number;
  readonly number?: number;
  readonly base?: number;
}): void {
  const right = { square: -1, isLost: false, product: -1, number: -1, base: -1 };
  Object.assign(fault, { ...right, squares: 0, products: 0, numbers: 0, bases: 0 }, wrong);
}

const network = ownNetwork(11);
const dwallet = makeOwnDWallet(network, 1);
const triple = ALGORITHM_TRIPLES.find(({ signatureAlgorithm }) => signatureAlgorithm === "ECDSASecp256r1")!;
const request = dwallet.request(triple, new Uint8Array(32).fill(1), new TextEncoder().encode("a message"));
const make = () => runSteps(createSignMessage(request));
let good: Uint8Array;
let counts: Pick<typeof fault, "squares" | "products" | "numbers">;

beforeAll(() => {
  make();
  inject({});
  good = make();
  counts = { ...fault };
});

/** Every fifth place, and all of them at night. */
const someOf = (places: readonly number[]): readonly number[] =>
  atNight(
    places,
    places.filter((_, index) => index % 5 === 0),
  );

describe("an ECDSA half", () => {
  // The squares are those of the derived ciphertexts, of six ladders of 1198 rungs, of four products, and of the check.
  test.each(someOf([0, 0.02, 0.1, 0.1251, 0.13, 0.2, 0.27, 0.4, 0.55, 0.7, 0.85, 0.95]))(
    "is not returned after a wrong squaring at %d of the way",
    (part) => {
      inject({ square: Math.floor(part * counts.squares) });
      expect(make).toThrow(EngineError);
    },
  );

  // Each later product with such a class loses its residue too, and is then the same on both sides of an equation.
  test.each(someOf([0.1251, 0, 0.13, 0.2, 0.27, 0.4, 0.55, 0.7, 0.85, 0.95]))(
    "is not returned after a squaring that lost the residue at %d of the way",
    (part) => {
      inject({ square: Math.floor(part * counts.squares), isLost: true });
      expect(make).toThrow(EngineError);
      inject({});
      expect(make()).toEqual(good);
    },
  );

  // The first half of the numbers are those of the half, the others those of its check.
  test.each(someOf([0, 0.1, 0.2, 0.3, 0.49]))(
    "is not returned after a wrong random number at %d of the way, which would repeat most of a right half's numbers",
    (part) => {
      inject({ number: Math.floor(part * counts.numbers) });
      expect(make).toThrow(EngineError);
    },
  );

  // After the twelve bases of the derived ciphertexts come those of six ladders, and then those of the check.
  test.each(atNight([0, 3, 11, 12, 13, 15, 17, 18, 25], [0, 12, 17, 25]))(
    "is not returned after base %d entered the maximal order with a wrong residue",
    (base) => {
      inject({ base });
      expect(make).toThrow(EngineError);
    },
  );

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

describe("an input of which a bit flips in memory", () => {
  afterEach(() => setFlip(undefined));
  const schnorr = ["EdDSA", "Taproot", "Schnorrkel"].map(
    (name) => ALGORITHM_TRIPLES.find(({ signatureAlgorithm }) => signatureAlgorithm === name)!,
  );
  const INPUTS = ["message", "presign", "dwalletOutput", "userSecretKeyShare", "parameters"] as const;
  const requestFor = (of: AlgorithmTriple): SignRequest =>
    makeOwnDWallet(network, of.curveNumber).request(of, new Uint8Array(32).fill(2), request.message);

  /** The copies of an input that the computation itself makes: it works on the first, and checks with the second. */
  const flipsOf = (input: Uint8Array, placeCount: number, firstCopy = 0): InputFlip[] => {
    const step = environment.isReference ? 1 : Math.ceil(placeCount / 8);
    return [0, 1].flatMap((copy) =>
      Array.from({ length: Math.ceil(placeCount / step) }, (_, index) => ({
        input,
        copy: copy + firstCopy,
        place: index * step,
      })),
    );
  };

  test.each(schnorr)(
    "never gives another half of $signatureAlgorithm, whichever input and whenever",
    (of) => {
      const own = requestFor(of);
      const half = runSteps(createSignMessage(own));
      for (const name of INPUTS) {
        const input = Uint8Array.from(name === "parameters" ? withoutTables(own[name]) : own[name]);
        const run = (flip: InputFlip) => {
          setFlip(flip);
          try {
            return runSteps(createSignMessage(own));
          } catch {
            return undefined;
          }
        };
        expect(run({ input, copy: 0, place: -1 })).toEqual(half);
        const halves = flipsOf(input, countPlaces()).map(run);
        for (const made of halves) expect(made ?? half, name).toEqual(half);
        expect(halves, name).toContain(undefined);
      }
    },
  );

  test.each(schnorr)("gives no half of $signatureAlgorithm with another nonce", (of) => {
    const own = requestFor(of);
    inject({ number: 0 });
    expect(() => runSteps(createSignMessage(own))).toThrow(EngineError);
    inject({});
  });

  test.each(["message", "presign"] as const)(
    "gives no ECDSA half if it is the %s, in either copy",
    (name) => {
      const input = Uint8Array.from(request[name]);
      for (const copy of [0, 1]) {
        setFlip({ input, copy, place: 0 });
        expect(make, String(copy)).toThrow();
      }
    },
  );

  test("is not seen by the caller, and the caller's own changes are not seen by the computation", () => {
    const own = requestFor(schnorr[0]!);
    const half = runSteps(createSignMessage(own));
    const changing = { ...own, triple: { ...own.triple }, message: Uint8Array.from(own.message) };
    const steps = createSignMessage(changing);
    steps.next();
    changing.message.fill(0);
    Object.assign(changing.triple, { signatureAlgorithm: "Taproot", hashNumber: 9 });
    expect(runSteps(steps)).toEqual(half);
  });

  describe.each([
    ["on the caller's thread", () => ({ engine: createInlineEngine(), firstCopy: 1, setFlip })],
    ["on a worker", onWorker],
  ] as const)("%s", (_, open) => {
    let engine: CryptoEngine;
    afterAll(() => engine.close());
    test("never gives another half", async () => {
      const opened = open();
      engine = opened.engine;
      const own = requestFor(schnorr[0]!);
      const half = runSteps(createSignMessage(own));
      const input = Uint8Array.from(own.message);
      const halves = [];
      for (const flip of flipsOf(input, 200, opened.firstCopy)) {
        opened.setFlip(flip);
        const made = engine.createSignMessage({
          ...own,
          userSecretKeyShare: new SecretBytes(Uint8Array.from(own.userSecretKeyShare)),
        });
        halves.push(await made.catch(() => undefined));
      }
      for (const made of halves) expect(made ?? half).toEqual(half);
      expect(halves).toContain(undefined);
    });
  });

  /** A worker engine whose worker flips the bit that the test has set. */
  function onWorker() {
    const current: { readonly flip?: InputFlip } = {};
    const module = JSON.stringify(new URL("../../../support/crypto/flip-worker.ts", import.meta.url).href);
    const program = `import("tsx/esm/api").then((tsx) => (tsx.register(), import(${module})));`;
    const engine = createWorkerEngineOn(
      (events) => {
        const thread = nodeEngineThread(nodeThreads()!, program, events);
        return {
          ...thread,
          post: (message, transfer) => thread.post(Object.assign(message, current), transfer),
        };
      },
      { workerCount: 1, onFallback: (cause) => expect.fail(String(cause)) },
    );
    return { engine, firstCopy: 0, setFlip: (next: InputFlip) => Object.assign(current, { flip: next }) };
  }
});
