import { generateKeyPairSync, sign } from "node:crypto";
import { expect, it } from "vitest";
import { verifyEd25519 } from "../../../src/protocol/signatures/verify-ed25519.ts";

const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const key = new Uint8Array(publicKey.export({ format: "der", type: "spki" }).subarray(-32));
const message = new TextEncoder().encode("a message");
const signature = new Uint8Array(sign(null, message, privateKey));

it("a signature verifies over its message under its key alone", () => {
  expect(verifyEd25519(key, message, signature)).toBe(true);
  expect(verifyEd25519(key, message.slice(1), signature)).toBe(false);
  expect(verifyEd25519(signature.slice(0, 32), message, signature)).toBe(false);
  expect(verifyEd25519(key, message, signature.with(0, signature[0]! ^ 1))).toBe(false);
});

it("malformed input is no valid signature", () => {
  for (const wrong of [
    new Uint8Array(),
    key.slice(1),
    Uint8Array.of(...key, 0),
    new Uint8Array(32).fill(255),
  ])
    expect(verifyEd25519(wrong, message, signature)).toBe(false);
  for (const wrong of [new Uint8Array(), signature.slice(1), Uint8Array.of(...signature, 0)])
    expect(verifyEd25519(key, message, wrong)).toBe(false);
});

it("the identity as a key verifies nothing, which RFC 8032 and ZIP 215 see differently", () => {
  // A non-canonical encoding of the identity, with which ZIP 215 verifies every message.
  const identity = Uint8Array.of(0xee, ...new Array<number>(30).fill(0xff), 0x7f);
  const zeros = new Uint8Array(64);
  zeros[0] = 1;
  expect(verifyEd25519(identity, message, zeros)).toBe(false);
});
