import { createSecretKey, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readKeySet } from "../../../../../src/service/access/identity/read-key-set.ts";
import { tokenKey } from "../../../../support/crypto/signed-token.ts";

const good = tokenKey("ES256", "good").jwk;
const setOf = (...keys: readonly unknown[]) => JSON.stringify({ keys });
const kidsOf = (text: string) => readKeySet(text).keys.map(({ kid }) => kid);

describe("a key set", () => {
  it("has its public signature keys, without certificates", () => {
    const keys = ["RS256", "ES256", "ES384", "ES512", "EdDSA"].map((alg) => tokenKey(alg, alg).jwk);
    const set = readKeySet(setOf(...keys.map((key) => ({ ...key, x5c: ["x".repeat(1_000)] }))));
    expect(set.keys).toEqual(keys);
  });

  it("loses symmetric keys, keys for encryption, foreign curves and weak RSA keys", () => {
    const secret = createSecretKey(randomBytes(32)).export({ format: "jwk" });
    const others = [
      { ...secret, kid: "hmac", alg: "HS256" },
      { ...good, kid: "encryption", use: "enc" },
      { ...good, kid: "curve", crv: "secp256k1" },
      { ...good, kid: "point", x: good["y"] },
      { ...tokenKey("RS256", "weak", 1_024).jwk },
      { kty: "AKP", kid: "unknown" },
    ];
    // A public set never has `k`, the secret of a symmetric key, but a careless issuer may publish one.
    expect(kidsOf(setOf(...others, good))).toEqual(["good"]);
    expect(() => readKeySet(setOf(...others))).toThrow("the key set has no usable key");
  });

  it("with a private key is refused, because everybody may know it", () => {
    const key = tokenKey("ES256", "leaked").privateKey.export({ format: "jwk" });
    expect(() => readKeySet(setOf(good, key))).toThrow("the key set contains a private key");
  });

  it("has at most 32 keys", () => {
    expect(kidsOf(setOf(...Array<object>(32).fill(good)))).toHaveLength(32);
    expect(() => readKeySet(setOf(...Array<object>(33).fill(good)))).toThrow("more than 32 keys");
  });

  it.each([
    "",
    "[]",
    "null",
    "{}",
    '{"keys":{}}',
    '{"keys":[1]}',
    '{"keys":[null]}',
    '{"keys":[]}',
    "<html>",
  ])("is not %j", (text) => {
    expect(() => readKeySet(text)).toThrow(/^the key set /);
  });
});
