import { createPublicKey } from "node:crypto";
import { createLocalJWKSet } from "jose";
import { describe, expect, it } from "vitest";
import { readKeySet } from "../../../../../src/service/access/identity/read-key-set.ts";
import {
  ID_TOKEN_ALGORITHMS,
  type IdTokenRules,
  readUncheckedToken,
  verifyIdToken,
} from "../../../../../src/service/access/identity/verify-id-token.ts";
import {
  encoded,
  hmacToken,
  signedToken,
  type TokenKey,
  tokenKey,
} from "../../../../support/crypto/signed-token.ts";

const NOW_S = 1_900_000_000;
const RULES: IdTokenRules = {
  issuer: "https://login.example",
  audiences: ["app-1", "app-2"],
  referenceClaim: "sub",
  algorithms: ID_TOKEN_ALGORITHMS,
  tokenMaxAgeSeconds: 600,
};
const CLAIMS = { iss: RULES.issuer, aud: "app-1", sub: "user-7", iat: NOW_S - 10, exp: NOW_S + 300 };
const ecKey = tokenKey("ES256", "k1");
const rsaKey = tokenKey("RS256", "k1");

const findIn = (...keys: readonly TokenKey[]) =>
  createLocalJWKSet(readKeySet(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) })));
const verify = (token: string, rules: Partial<IdTokenRules> = {}, keys = [ecKey]) =>
  verifyIdToken(token, { ...RULES, ...rules }, findIn(...keys), NOW_S * 1_000);
const tokenWith = (claims: object = {}, header: object = {}) =>
  signedToken({ alg: "ES256", kid: "k1", ...header }, { ...CLAIMS, ...claims }, ecKey.privateKey);
const refused = (fault: string) => ({ reason: "TOKEN_INVALID", metadata: { fault } });
const without = (name: keyof typeof CLAIMS) =>
  signedToken({ alg: "ES256", kid: "k1" }, { ...CLAIMS, [name]: undefined }, ecKey.privateKey);

describe("an ID token", () => {
  it.each(ID_TOKEN_ALGORITHMS)("with the algorithm %s names its user", async (alg) => {
    const key = tokenKey(alg, "k");
    const token = signedToken({ alg, kid: "k", typ: "JWT" }, CLAIMS, key.privateKey);
    expect(await verify(token, {}, [key])).toEqual({
      userReference: "user-7",
      issuedAt: new Date(CLAIMS.iat * 1_000),
      expiresAt: new Date(CLAIMS.exp * 1_000),
    });
  });

  it("of another issuer with the same `sub` is refused, even if a key of the provider signed it", async () => {
    await expect(verify(tokenWith({ iss: "https://other.example" }))).rejects.toMatchObject(
      refused("issuer"),
    );
    await expect(verify(tokenWith({ iss: `${RULES.issuer}/` }))).rejects.toMatchObject(refused("issuer"));
    await expect(verify(tokenWith({ iss: [RULES.issuer] }))).rejects.toMatchObject(refused("issuer"));
  });

  it("that another key signed is refused", async () => {
    const forged = signedToken({ alg: "ES256", kid: "k1" }, CLAIMS, tokenKey("ES256").privateKey);
    await expect(verify(forged)).rejects.toMatchObject(refused("signature"));
  });

  it("whose claims were changed is refused", async () => {
    const [head, , signature] = tokenWith().split(".");
    await expect(
      verify(`${head}.${encoded({ ...CLAIMS, sub: "user-8" })}.${signature}`),
    ).rejects.toMatchObject(refused("signature"));
  });

  it.each(["none", "None", "nOnE", ""])(
    "with the algorithm `%s` and no signature is refused",
    async (alg) => {
      await expect(verify(`${encoded({ alg })}.${encoded(CLAIMS)}.`)).rejects.toMatchObject(
        refused("algorithm"),
      );
    },
  );

  it("whose signature is an HMAC with the public key as its secret is refused", async () => {
    const { key } = publicForms(rsaKey);
    for (const secret of [key, JSON.stringify(rsaKey.jwk)]) {
      for (const alg of ["HS256", "RS256"]) {
        const token = hmacToken({ alg, kid: "k1" }, CLAIMS, secret);
        await expect(verify(token, {}, [rsaKey])).rejects.toMatchObject(
          refused(alg === "HS256" ? "algorithm" : "signature"),
        );
      }
    }
  });

  it("with an algorithm that its provider does not use is refused", async () => {
    await expect(verify(tokenWith(), { algorithms: ["RS256"] })).rejects.toMatchObject(refused("algorithm"));
  });

  it("with an algorithm of another type of key than the key's is refused", async () => {
    const token = signedToken({ alg: "PS256", kid: "k1" }, CLAIMS, rsaKey.privateKey);
    await expect(verify(token)).rejects.toMatchObject(refused("key"));
  });

  it("without a `kid` is refused if its provider has several keys, and else accepted", async () => {
    const token = signedToken({ alg: "ES256" }, CLAIMS, ecKey.privateKey);
    await expect(verify(token, {}, [ecKey, tokenKey("ES256", "k2")])).rejects.toMatchObject(refused("key"));
    expect((await verify(token)).userReference).toBe("user-7");
  });

  it("with an unknown `kid` is refused", async () => {
    await expect(verify(tokenWith({}, { kid: "k9" }))).rejects.toMatchObject(refused("key"));
  });

  it("with its own key in the header is verified with the provider's alone", async () => {
    const thief = tokenKey("ES256", "k1");
    for (const header of [
      { jwk: thief.jwk },
      { jku: "https://evil.example/jwks" },
      { x5u: "https://evil.example" },
    ]) {
      const token = signedToken({ alg: "ES256", kid: "k1", ...header }, CLAIMS, thief.privateKey);
      await expect(verify(token)).rejects.toMatchObject(refused("signature"));
    }
  });

  it("for another audience is refused", async () => {
    for (const aud of ["app-3", ["app-3"], [], undefined, "app-1 ", { "app-1": true }])
      await expect(verify(tokenWith({ aud }))).rejects.toMatchObject(refused("audience"));
  });

  it("for several audiences needs an accepted authorized party", async () => {
    const aud = ["app-1", "other"];
    await expect(verify(tokenWith({ aud }))).rejects.toMatchObject(refused("authorized_party"));
    await expect(verify(tokenWith({ aud, azp: "other" }))).rejects.toMatchObject(refused("authorized_party"));
    await expect(verify(tokenWith({ azp: "other" }))).rejects.toMatchObject(refused("authorized_party"));
    expect((await verify(tokenWith({ aud, azp: "app-2" }))).userReference).toBe("user-7");
  });

  it("expires a minute after its time, for clocks that differ", async () => {
    expect((await verify(tokenWith({ exp: NOW_S - 59 }))).userReference).toBe("user-7");
    await expect(verify(tokenWith({ exp: NOW_S - 60 }))).rejects.toMatchObject(refused("expired"));
  });

  it("is too old after its provider's time and a minute", async () => {
    expect((await verify(tokenWith({ iat: NOW_S - 660 }))).userReference).toBe("user-7");
    await expect(verify(tokenWith({ iat: NOW_S - 661 }))).rejects.toMatchObject(refused("expired"));
  });

  it("is refused more than a minute before its time", async () => {
    for (const claim of ["nbf", "iat"] as const) {
      expect((await verify(tokenWith({ [claim]: NOW_S + 60 }))).userReference).toBe("user-7");
      await expect(verify(tokenWith({ [claim]: NOW_S + 61 }))).rejects.toMatchObject(
        refused("not_yet_valid"),
      );
    }
  });

  it("needs `exp` and `iat`, as numbers", async () => {
    await expect(verify(without("exp"))).rejects.toMatchObject(refused("expired"));
    await expect(verify(without("iat"))).rejects.toMatchObject({ reason: "TOKEN_INVALID" });
    await expect(verify(tokenWith({ exp: String(CLAIMS.exp) }))).rejects.toMatchObject({
      reason: "TOKEN_INVALID",
    });
  });

  it("that lives longer than seven days is refused", async () => {
    const iat = NOW_S - 10;
    expect((await verify(tokenWith({ exp: iat + 7 * 86_400 }))).userReference).toBe("user-7");
    for (const exp of [iat + 7 * 86_400 + 1, 1e300])
      await expect(verify(tokenWith({ exp }))).rejects.toMatchObject(refused("expired"));
  });

  it("needs a reference of 1 to 128 printable ASCII characters", async () => {
    for (const sub of ["", "x".repeat(129), "ü", "a\n", 7, null, ["user-7"], undefined])
      await expect(verify(tokenWith({ sub }))).rejects.toMatchObject(refused("reference"));
    expect((await verify(tokenWith({ sub: "x".repeat(128) }))).userReference).toHaveLength(128);
  });

  it("names its user by the configured claim alone", async () => {
    const token = tokenWith({ employee: "e-1" });
    expect((await verify(token, { referenceClaim: "employee" })).userReference).toBe("e-1");
    await expect(verify(tokenWith(), { referenceClaim: "employee" })).rejects.toMatchObject(
      refused("reference"),
    );
    await expect(verify(tokenWith(), { referenceClaim: "constructor" })).rejects.toMatchObject(
      refused("reference"),
    );
  });

  it("names its user by an e-mail address only if the provider has verified it", async () => {
    const by = (claims: object) =>
      verify(tokenWith({ email: "a@b.example", ...claims }), { referenceClaim: "email" });
    for (const verified of [true, "true"])
      expect((await by({ email_verified: verified })).userReference).toBe("a@b.example");
    for (const verified of [undefined, false, "false", null, 1, {}])
      await expect(by({ email_verified: verified })).rejects.toMatchObject(refused("reference"));
    // The claim counts for no other one.
    expect((await verify(tokenWith({ email_verified: false }))).userReference).toBe("user-7");
  });

  it("of another type, such as an access token, a logout token or a proof, is refused", async () => {
    for (const typ of ["at+jwt", "logout+jwt", "dpop+jwt", "JWE", 7])
      await expect(verify(tokenWith({}, { typ }))).rejects.toMatchObject(refused("type"));
    const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
    await expect(verify(tokenWith({ events }))).rejects.toMatchObject(refused("type"));
    for (const typ of ["JWT", "jwt", "application/jwt"])
      expect((await verify(tokenWith({}, { typ }))).userReference).toBe("user-7");
  });

  it("with critical header parameters is refused", async () => {
    for (const header of [{ crit: ["b64"], b64: false }, { crit: ["x"], x: 1 }, { crit: [] }])
      await expect(verify(tokenWith({}, header))).rejects.toMatchObject(refused("malformed"));
  });

  it("beyond 16 KiB is refused before it is read", async () => {
    await expect(verify(tokenWith({ filler: "x".repeat(16_384) }))).rejects.toMatchObject(
      refused("malformed"),
    );
  });

  it.each(["", ".", "..", "a.b", "a.b.c", "a.b.c.d.e", `${encoded("[]")}.${encoded(CLAIMS)}.x`, "\u0000"])(
    "that is no signed token is refused: %j",
    (text) => {
      expect(() => readUncheckedToken(text)).toThrow(expect.objectContaining({ reason: "TOKEN_INVALID" }));
    },
  );
});

/** The forms of a public key that a careless verifier would take for an HMAC secret. */
function publicForms({ jwk }: TokenKey) {
  const key = createPublicKey({ key: jwk, format: "jwk" });
  return { key: key.export({ type: "spki", format: "pem" }).toString() };
}
