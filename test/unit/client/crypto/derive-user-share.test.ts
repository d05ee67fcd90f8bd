import { hkdfSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { bytesToHex } from "@noble/hashes/utils.js";
import { describe, expect, test } from "vitest";
import { deriveUserShare } from "../../../../src/client/crypto/derive-user-share.ts";
import { EngineError } from "../../../../src/client/crypto/engine.ts";
import { CURVES, type CurveName } from "../../../../src/protocol/algorithms.ts";
import { hexToBytes } from "../../../../src/protocol/bytes.ts";
import { sessionIdentifierDigest } from "../../../../src/protocol/chain/session-identifier.ts";
import { decodeUserShare } from "../../../../src/protocol/dwallet-output.ts";
import { curveGroup } from "../../../../src/protocol/signatures/curve-group.ts";

/** The vectors of docs/user-share.md. */
const { derivation, vectors } = JSON.parse(
  readFileSync(new URL("./user-share.vectors.json", import.meta.url), "utf8"),
) as {
  derivation: string;
  vectors: {
    curve: CurveName;
    seedHex: string;
    networkEncryptionKeyId: string;
    sessionDigestHex: string;
    userSecretKeyShareHex: string;
    publicShareHex: string;
  }[];
};
const input = {
  seed: new Uint8Array(32).fill(1),
  curve: "ED25519",
  networkEncryptionKeyId: `0x${"2".repeat(64)}`,
  sessionDigest: new Uint8Array(32).fill(3),
} as const;

describe.each(vectors)("on $curve", (vector) => {
  const { curve, networkEncryptionKeyId } = vector;
  const sessionDigest = hexToBytes(vector.sessionDigestHex);
  const share = deriveUserShare({
    seed: hexToBytes(vector.seedHex),
    curve,
    networkEncryptionKeyId,
    sessionDigest,
  });

  test("the share and its public half equal the vector's", () => {
    expect(bytesToHex(share.reveal())).toBe(vector.userSecretKeyShareHex);
    const point = curveGroup(curve).base.multiply(decodeUserShare(curve, share.reveal()));
    expect(bytesToHex(point.toBytes())).toBe(vector.publicShareHex);
  });

  test("another library's HKDF, used as the document says, derives the same share", () => {
    const info = Buffer.concat([
      Buffer.of(CURVES.indexOf(curve)),
      Buffer.from(networkEncryptionKeyId.slice(2), "hex"),
      sessionDigest,
    ]);
    const wide = Buffer.from(hkdfSync("sha512", hexToBytes(vector.seedHex), derivation, info, 64));
    const { order } = curveGroup(curve);
    const scalar = (BigInt(`0x${wide.toString("hex")}`) % (order - 1n)) + 1n;
    expect(decodeUserShare(curve, share.reveal())).toBe(scalar);
  });
});

test("another seed, curve, network key or session gives another share", () => {
  const changes = [
    {},
    { seed: new Uint8Array(32).fill(4) },
    { curve: "RISTRETTO" as const },
    { networkEncryptionKeyId: `0x${"5".repeat(64)}` },
    { sessionDigest: new Uint8Array(32).fill(6) },
  ];
  const shares = changes.map((change) => bytesToHex(deriveUserShare({ ...input, ...change }).reveal()));
  expect(new Set(shares).size).toBe(changes.length);
});

test.each([
  ["a seed of 31 bytes", { seed: new Uint8Array(31) }],
  ["a session digest of 31 bytes", { sessionDigest: new Uint8Array(31) }],
  ["a short id of the network key", { networkEncryptionKeyId: "0x5" }],
])("%s is refused", (_what, change) => {
  expect(() => deriveUserShare({ ...input, ...change })).toThrow(EngineError);
});

test("the session's digest includes the sender, so one identifier of two senders gives two shares", () => {
  const identifier = new Uint8Array(32).fill(7);
  const [one, two] = ["a", "b"].map((digit) => {
    const sessionDigest = sessionIdentifierDigest(identifier, `0x${digit.repeat(64)}`);
    return bytesToHex(deriveUserShare({ ...input, sessionDigest }).reveal());
  });
  expect(one).not.toBe(two);
});
