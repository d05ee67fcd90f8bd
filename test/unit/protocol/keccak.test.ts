import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { kernelPermutation, permuteInJavaScript } from "../../../src/protocol/signatures/keccak.ts";

const inWebAssembly = kernelPermutation(WebAssembly);
if (inWebAssembly === undefined) throw new Error("this runtime has no WebAssembly");

describe.each([
  ["in WebAssembly", inWebAssembly],
  ["in JavaScript", permuteInJavaScript],
])("the permutation %s", (_, permute) => {
  it("makes the SHA3-256 of Node for messages of up to three blocks", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3 * RATE }), (message) => {
        expect(sha3(permute, message)).toEqual(
          new Uint8Array(createHash("sha3-256").update(message).digest()),
        );
      }),
    );
  });
});

it("a runtime without WebAssembly gets no kernel", () => {
  expect(kernelPermutation(undefined)).toBeUndefined();
});

const RATE = 136;

/** SHA3-256 (FIPS 202, section 6.1) on a permutation. */
function sha3(permute: (state: Uint8Array) => void, message: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((message.length + 1) / RATE) * RATE);
  padded.set(message);
  padded[message.length]! ^= 0x06;
  padded[padded.length - 1]! ^= 0x80;
  const state = new Uint8Array(200);
  for (let block = 0; block < padded.length; block += RATE) {
    for (let at = 0; at < RATE; at++) state[at]! ^= padded[block + at]!;
    permute(state);
  }
  return state.slice(0, 32);
}
