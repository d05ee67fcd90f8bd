import { createCipheriv } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { bytesToHex } from "../../../../src/protocol/bytes.ts";
import { chacha20KeyStream } from "../../../../src/protocol/class-groups/chacha20.ts";

it("the key stream is RFC 8439's first test vector (appendix A.1)", () => {
  expect(bytesToHex(chacha20KeyStream(new Uint8Array(32), 64))).toBe(
    "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7" +
      "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
  );
});

it("the key stream is OpenSSL's for every key and length", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat(1000), (key, length) => {
      const openSsl = createCipheriv("chacha20", key, Buffer.alloc(16)).update(Buffer.alloc(length));
      expect(chacha20KeyStream(key, length)).toEqual(new Uint8Array(openSsl));
    }),
  );
});

it("a key of another length is refused", () => {
  expect(() => chacha20KeyStream(new Uint8Array(31), 64)).toThrow(RangeError);
});
