/** Halves from fixed vectors: their octets never change while the derivation's label stays the same. */
import { createHash, hkdfSync } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { createSignMessage } from "../../../../src/client/crypto/create-sign-message.ts";
import { deriveSignRandomness } from "../../../../src/client/crypto/derive-sign-randomness.ts";
import { createInlineEngine } from "../../../../src/client/crypto/engines/inline-engine.ts";
import { maskedResponse } from "../../../../src/client/crypto/prove-evaluation.ts";
import { SecretBytes } from "../../../../src/client/crypto/secret-bytes.ts";
import type { SignRequest } from "../../../../src/client/crypto/sign-request.ts";
import { ALGORITHM_TRIPLES } from "../../../../src/protocol/algorithms.ts";
import { hexToBytes } from "../../../../src/protocol/bytes.ts";
import { runSteps } from "../../../../src/protocol/chain/read-errors.ts";
import { decodeUserShare } from "../../../../src/protocol/dwallet-output.ts";
import { curveByNumber } from "../../../../src/protocol/proofs/curve.ts";
import {
  recordedNetwork as network,
  recorded,
  requestOf,
} from "../../../component/client/crypto/recorded-halves.ts";
import { isSigned, presignOf } from "../../../support/crypto/own-dwallet.ts";
import { flipBit } from "../../../support/crypto/signature-vectors.ts";

// Nothing here may load Ika's WebAssembly.
vi.mock("@ika.xyz/ika-wasm", () => {
  throw new Error("the wasm was loaded");
});

describe.each(recorded.vectors)("$signatureAlgorithm with $hash", (vector) => {
  const request = requestOf(vector);
  const { triple } = request;
  const curve = curveByNumber(triple.curveNumber);
  const share = decodeUserShare(triple.curve, request.userSecretKeyShare);
  const commitment = hexToBytes(vector.commitmentHex);

  /** HKDF from another library, as the document describes it. */
  function expand(name: string, binding: Uint8Array, length: number): bigint {
    const vec = (bytes: Uint8Array) => {
      const prefix = [];
      let rest = bytes.length;
      for (; rest > 127; rest >>= 7) prefix.push((rest & 127) | 128);
      return Buffer.concat([Buffer.from([...prefix, rest]), bytes]);
    };
    const numbers = [triple.curveNumber, triple.signatureAlgorithmNumber, triple.hashNumber];
    const { dwalletOutput, presign, message } = request;
    const parts = [dwalletOutput, presign, commitment, message].map(vec);
    const context = createHash("sha512")
      .update(Buffer.concat([Buffer.from(numbers), ...parts]))
      .digest();
    const info = Buffer.concat([context, vec(Buffer.from(name)), vec(binding)]);
    const secret = request.userSecretKeyShare.slice(-32);
    const label = "threshold-signing-service/sign-randomness/v1";
    const bytes = Buffer.from(hkdfSync("sha512", secret, label, info, length));
    return BigInt(`0x${bytes.toString("hex")}`);
  }

  test("derives the vector's numbers, and so does another library", () => {
    const randomness = deriveSignRandomness(curve, { ...request, share, commitment });
    for (const [name, hex] of Object.entries(vector.scalars)) {
      const wide = expand(name, new Uint8Array(), 64);
      expect((wide % (curve.order - 1n)) + 1n).toBe(BigInt(`0x${hex}`));
      expect(randomness.scalar(name)).toBe(BigInt(`0x${hex}`));
    }
    const binding = hexToBytes(recorded.bindingHex);
    for (const [numbers, bound] of [
      [vector.integers ?? {}, new Uint8Array()],
      [vector.bound ?? {}, binding],
    ] as const) {
      for (const [name, hex] of Object.entries(numbers)) {
        const bits = name.includes("mask") ? 1198 : 749;
        const bytes = Buffer.from(
          expand(name, bound, Math.ceil(bits / 8))
            .toString(16)
            .padStart(2 * Math.ceil(bits / 8), "0"),
          "hex",
        );
        const integer = BigInt.asUintN(bits, BigInt(`0x${bytes.reverse().toString("hex")}`));
        expect(integer).toBe(BigInt(`0x${hex}`));
        expect(randomness.integer(name, bits, bound)).toBe(integer);
      }
    }
  });

  test("makes the vector's octets, and a signature that an outside library accepts", () => {
    const half = runSteps(createSignMessage(request));
    expect(createHash("sha256").update(half).digest("hex")).toBe(vector.halfSha256Hex);
    if (vector.halfHex !== undefined) expect(Buffer.from(half).toString("hex")).toBe(vector.halfHex);
    expect(isSigned(network, request, half)).toBe(true);
  });

  test("derives other numbers if any of its inputs changes", () => {
    const input = { ...request, share, commitment };
    const changed = [
      input,
      { ...input, share: share ^ 1n },
      { ...input, dwalletOutput: flipBit(input.dwalletOutput, 0) },
      { ...input, presign: flipBit(input.presign, 8 * input.presign.length - 1) },
      { ...input, commitment: flipBit(commitment, 255) },
      { ...input, message: flipBit(input.message, 3) },
      // Moves the message's last byte into the next part, to test the border between the parts.
      { ...input, message: input.message.subarray(0, -1) },
      ...ALGORITHM_TRIPLES.filter((other) => other !== triple).map((other) => ({ ...input, triple: other })),
    ].map((one) => deriveSignRandomness(curve, one));
    const numbers = changed.flatMap((one) => [one.scalar("k"), one.scalar("alpha"), one.integer("k", 749)]);
    const bound = changed[0]!.scalar("k", new Uint8Array(1));
    expect(new Set([...numbers, bound]).size).toBe(numbers.length + 1);
  });

  test.each([
    ["a share that is not the dWallet's", () => ({ userSecretKeyShare: flippedShare(request) }), "share"],
    [
      "a presign of another network key",
      () => ({ presign: flipBit(request.presign, 8 * request.presign.length - 1) }),
      "presign",
    ],
    ["a presign of the other family", () => ({ presign: otherPresign(request) }), "presign"],
    [
      "a dWallet of another network key",
      () => ({ dwalletOutput: flipBit(request.dwalletOutput, 8 * request.dwalletOutput.length - 1) }),
      "dWallet",
    ],
  ])("refuses %s", (_, change, text) => {
    expect(() => runSteps(createSignMessage({ ...request, ...change() }))).toThrow(text);
  });
});

test("the default engine leaves the event loop free while it makes an ECDSA half, and needs no WebAssembly", async () => {
  const engine = createInlineEngine();
  await engine.ready();
  const vector = recorded.vectors[0]!;
  const request = requestOf(vector);
  let isMaking = true;
  let turns = 0;
  const count = (): void => {
    turns++;
    if (isMaking) setImmediate(count);
  };
  setImmediate(count);
  const half = await engine.createSignMessage({
    ...request,
    userSecretKeyShare: new SecretBytes(request.userSecretKeyShare),
  });
  isMaking = false;
  expect(createHash("sha256").update(half).digest("hex")).toBe(vector.halfSha256Hex);
  expect(turns).toBeGreaterThan(2);
});

test("a response for a secret that is too long for its mask is refused", () => {
  const challenge = 2n ** 128n - 1n;
  expect(maskedResponse(5n, challenge, 2n ** 749n - 1n, 749)).toBe(5n + challenge * (2n ** 749n - 1n));
  expect(() => maskedResponse(5n, challenge, 2n ** 749n, 749)).toThrow(RangeError);
  expect(() => maskedResponse(5n, 2n ** 128n, 1n, 749)).toThrow(RangeError);
  expect(() => maskedResponse(5n, challenge, -1n, 749)).toThrow(RangeError);
});

/** Another valid scalar. */
function flippedShare({ userSecretKeyShare }: SignRequest): Uint8Array {
  return flipBit(userSecretKeyShare, 8 * (userSecretKeyShare.length - 16));
}

function otherPresign({ triple }: SignRequest): Uint8Array {
  const other = ALGORITHM_TRIPLES.find(
    ({ curveNumber: number, signatureAlgorithm }) =>
      number === triple.curveNumber && signatureAlgorithm !== triple.signatureAlgorithm,
  );
  return other === undefined ? new Uint8Array(100) : presignOf(network, other, new Uint8Array(32));
}
