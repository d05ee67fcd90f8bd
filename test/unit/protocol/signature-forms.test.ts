import fc from "fast-check";
import { expect, test } from "vitest";
import { MalformedBytesError } from "../../../src/protocol/bytes.ts";
import { signatureFromChain, signatureLength } from "../../../src/protocol/signatures/signature-forms.ts";

test("an ECDSA signature has the recovery id moved from the front to the end", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), fc.integer({ min: 0, max: 3 }), (rs, v) => {
      for (const algorithm of ["ECDSASecp256k1", "ECDSASecp256r1"] as const) {
        expect(signatureFromChain(algorithm, Uint8Array.of(v, ...rs))).toEqual(Uint8Array.of(...rs, v));
      }
    }),
  );
});

test("a Schnorr-family signature is a copy of its 64 bytes", () => {
  for (const algorithm of ["Taproot", "EdDSA", "Schnorrkel"] as const) {
    const chain = new Uint8Array(64).fill(5);
    const signature = signatureFromChain(algorithm, chain);
    chain.fill(0);
    expect(signature).toEqual(new Uint8Array(64).fill(5));
    expect(signatureLength(algorithm)).toBe(64);
  }
});

test("wrong lengths and impossible recovery ids are malformed", () => {
  expect(() => signatureFromChain("ECDSASecp256k1", new Uint8Array(64))).toThrow(MalformedBytesError);
  expect(() => signatureFromChain("EdDSA", new Uint8Array(65))).toThrow(MalformedBytesError);
  expect(() => signatureFromChain("ECDSASecp256r1", new Uint8Array(65).fill(4))).toThrow(MalformedBytesError);
});
