import { sessionIdentifierDigest as sdkDigest } from "@ika.xyz/sdk";
import { bytesToHex } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hexToBytes } from "../../../src/protocol/bytes.ts";
import { sessionIdentifierDigest } from "../../../src/protocol/chain/session-identifier.ts";

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });

test("the digest equals the Ika SDK's for every session and sender", () => {
  fc.assert(
    fc.property(bytes32, bytes32, (session, sender) => {
      const address = `0x${bytesToHex(sender)}`;
      expect(bytesToHex(sessionIdentifierDigest(session, address))).toBe(
        bytesToHex(sdkDigest(session, hexToBytes(address.slice(2)))),
      );
    }),
  );
});

test("wrong lengths and short addresses are refused", () => {
  expect(() => sessionIdentifierDigest(new Uint8Array(31), `0x${"1".repeat(64)}`)).toThrow(RangeError);
  expect(() => sessionIdentifierDigest(new Uint8Array(32), "0x1")).toThrow(RangeError);
});
