import { expect, test } from "vitest";
import { EngineError } from "../../../../src/client/crypto/engine.ts";
import { publicKeyOfPrivateKey } from "../../../../src/client/crypto/imports/private-key.ts";
import { CURVES, type CurveName } from "../../../../src/protocol/algorithms.ts";
import { ed25519PublicKey, PRIVATE_KEYS } from "../../../support/crypto/private-keys.ts";

test.each(CURVES)("a private key of %s has the public key that another library computes", (curve) => {
  const { privateKey, publicKey } = PRIVATE_KEYS[curve];
  const before = privateKey.slice();
  expect(publicKeyOfPrivateKey(curve, privateKey)).toEqual(publicKey);
  expect(privateKey).toEqual(before);
});

test("the clamped scalar of RFC 8032 is reduced: its first two test vectors, and seeds of all bits", () => {
  const vectors = [
    "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    "ff".repeat(32),
    "00".repeat(32),
  ].map((hex) => new Uint8Array(Buffer.from(hex, "hex")));
  for (const seed of vectors) expect(publicKeyOfPrivateKey("ED25519", seed)).toEqual(ed25519PublicKey(seed));
});

const hex = (text: string) => new Uint8Array(Buffer.from(text, "hex"));
const K1_ORDER = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
const R1_ORDER = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
const L_ORDER = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";

test.each<[string, CurveName, Uint8Array]>([
  ["zero", "SECP256K1", new Uint8Array(32)],
  ["the order", "SECP256K1", hex(K1_ORDER)],
  ["zero", "SECP256R1", new Uint8Array(32)],
  ["the order", "SECP256R1", hex(R1_ORDER)],
  ["zero", "RISTRETTO", new Uint8Array(32)],
  ["the order", "RISTRETTO", hex(L_ORDER)],
  ["31 bytes", "SECP256K1", new Uint8Array(31).fill(1)],
  ["33 bytes", "ED25519", new Uint8Array(33).fill(1)],
])("%s is no private key of %s, and the error does not repeat it", (_, curve, privateKey) => {
  const read = () => publicKeyOfPrivateKey(curve, privateKey);
  expect(read).toThrow(EngineError);
  expect(read).toThrow(
    /^private key: (32 bytes, not \d+|must be between 1 and the order of [A-Z0-9]+ minus one)$/,
  );
});

test("the largest private key is read", () => {
  const last = hex(K1_ORDER);
  last[31]!--;
  expect(publicKeyOfPrivateKey("SECP256K1", last)).toHaveLength(33);
});
