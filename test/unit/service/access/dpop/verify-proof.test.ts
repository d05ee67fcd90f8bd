import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createProofNonces } from "../../../../../src/service/access/dpop/proof-nonces.ts";
import {
  createProofCheck,
  type ProofCheckOptions,
  type ProvedCall,
} from "../../../../../src/service/access/dpop/verify-proof.ts";
import {
  encoded,
  hmacToken,
  signedToken,
  type TokenKey,
  thumbprintOf,
  tokenKey,
} from "../../../../support/crypto/signed-token.ts";

const NOW_MS = 1_900_000_000_000;
const URL_OF_CALL = "http://10.0.0.7:3000/tss.v1.Signing/ReserveSign";
const TOKEN = "tss_session_abc";
const nonces = createProofNonces(new Uint8Array(32).fill(7));
const device = tokenKey("ES256");

function createCheck(options: Partial<ProofCheckOptions> = {}) {
  const seen = new Set<string>();
  const seenProofs = { isFirst: async (name: string) => seen.size !== seen.add(name).size };
  return { seen, check: createProofCheck({ nonces, seenProofs, ...options }) };
}

let count = 0;
const claimsWith = (claims: object = {}) => ({
  jti: `proof-${count++}-0123456789`,
  iat: NOW_MS / 1_000,
  htm: "POST",
  htu: "https://tss.example/tss.v1.Signing/ReserveSign",
  ath: createHash("sha256").update(TOKEN).digest("base64url"),
  nonce: nonces.current(NOW_MS),
  ...claims,
});
const headerWith = (header: object = {}, { jwk }: TokenKey = device) => ({
  typ: "dpop+jwt",
  alg: "ES256",
  jwk,
  ...header,
});
const proofWith = (claims: object = {}, header: object = {}, key: TokenKey = device) =>
  signedToken(headerWith(header, key), claimsWith(claims), key.privateKey);

const callWith = (proof: string | undefined, call: Partial<ProvedCall> = {}): ProvedCall => ({
  proof,
  method: "POST",
  url: URL_OF_CALL,
  token: TOKEN,
  thumbprint: thumbprintOf(device),
  nowMs: NOW_MS,
  ...call,
});
const { check } = createCheck();
const refused = (fault: string) => ({ reason: "PROOF_INVALID", metadata: { fault } });
const expectFault = (fault: string, proof: string | undefined, call?: Partial<ProvedCall>) =>
  expect(check(callWith(proof, call))).rejects.toMatchObject(refused(fault));

describe("a proof", () => {
  it.each(["ES256", "EdDSA", "Ed25519"])(
    "with %s is accepted once, of the key with its thumbprint",
    async (alg) => {
      const key = tokenKey(alg);
      const call = callWith(proofWith({}, { alg }, key), { thumbprint: thumbprintOf(key) });
      expect(await check(call)).toEqual({ thumbprint: thumbprintOf(key) });
      await expect(check(call)).rejects.toMatchObject(refused("replayed"));
    },
  );

  it("has the thumbprint of RFC 7638, whatever else is in its key", async () => {
    const { thumbprint } = await check(
      callWith(proofWith({}, { jwk: { kid: "1", use: "sig", ...device.jwk } }), { thumbprint: undefined }),
    );
    expect(thumbprint).toBe(thumbprintOf(device));
  });

  it("is needed", () => expectFault("missing", undefined));

  it("of another key than the session's is refused", () =>
    expectFault("key", proofWith({}, {}, tokenKey("ES256"))));

  it("that names the session's key and is signed by another is refused", () =>
    expectFault("signature", signedToken(headerWith(), claimsWith(), tokenKey("ES256").privateKey)));

  it("whose claims were changed is refused", () => {
    const [head, , signature] = proofWith().split(".");
    return expectFault("signature", `${head}.${encoded(claimsWith())}.${signature}`);
  });

  it("for another HTTP method is refused", () => expectFault("method", proofWith({ htm: "GET" })));

  it.each([
    "https://tss.example/tss.v1.Signing/SubmitSign",
    "https://tss.example/tss.v1.Signing/ReserveSign/",
    "https://tss.example/TSS.v1.Signing/ReserveSign",
    "https://tss.example/x/../",
    "/tss.v1.Signing/ReserveSign",
    "",
    7,
  ])("for another URL is refused: %s", (htu) => expectFault("url", proofWith({ htu })));

  it("of another token is refused", async () => {
    await expectFault("token", proofWith({ ath: createHash("sha256").update("other").digest("base64url") }));
    await expectFault("token", proofWith({ ath: undefined }));
  });

  it("of a token is refused where none is used", () =>
    expectFault("token", proofWith(), { token: undefined }));

  it.each(["none", "HS256", "RS256", "ES384", "PS256", ""])(
    "with the algorithm `%s` is refused",
    async (alg) => {
      await expectFault("algorithm", `${encoded(headerWith({ alg }))}.${encoded(claimsWith())}.`);
    },
  );

  it("whose signature is an HMAC is refused", async () => {
    const secret = JSON.stringify(device.jwk);
    await expectFault("algorithm", hmacToken(headerWith({ alg: "HS256" }), claimsWith(), secret));
    await expectFault("signature", hmacToken(headerWith(), claimsWith(), secret));
  });

  it("with an algorithm of another type of key is refused", async () => {
    const edwards = tokenKey("EdDSA");
    const call = { thumbprint: undefined };
    await expectFault("key", `${encoded(headerWith({}, edwards))}.${encoded(claimsWith())}.AAAA`, call);
    // The key is known with its right algorithm.
    await check(callWith(proofWith({}, { alg: "EdDSA" }, edwards), call));
    await expectFault("malformed", `${encoded(headerWith({}, edwards))}.${encoded(claimsWith())}.AAAA`, call);
  });

  it("that contains a private or a symmetric key is refused", async () => {
    await expectFault("key", proofWith({}, { jwk: { ...device.jwk, d: "AAAA" } }));
    await expectFault("key", proofWith({}, { jwk: { kty: "oct", k: "AAAA" } }));
  });

  it("with a key on another curve, or on none, is refused", async () => {
    const far = { ...device.jwk, x: device.jwk["y"], y: device.jwk["x"] };
    for (const jwk of [
      tokenKey("ES384").jwk,
      tokenKey("RS256").jwk,
      far,
      undefined,
      null,
      "x",
      { kty: "EC" },
    ])
      await expectFault("key", proofWith({}, { jwk }), { thumbprint: undefined });
  });

  it.each(["JWT", undefined, "DPOP+JWT", "application/dpop+jwt"])("of the type %s is refused", (typ) =>
    expectFault("malformed", proofWith({}, { typ })),
  );

  it("with critical header parameters is refused", () =>
    expectFault("malformed", proofWith({}, { crit: ["x"], x: 1 })));

  it.each(["jti", "iat", "htm", "htu"])("without `%s` is refused", (claim) =>
    expectFault("malformed", proofWith({ [claim]: undefined })),
  );

  it.each(["", "short", "x".repeat(129), "with a space", 7])("with the `jti` %j is refused", (jti) =>
    expectFault("malformed", proofWith({ jti })),
  );

  it("beyond 4 KiB is refused", () => expectFault("malformed", proofWith({ filler: "x".repeat(4_096) })));

  it("next to another one is refused, as a second header would be", () =>
    expectFault("malformed", `${proofWith()}, ${proofWith()}`));

  it.each(["", "a.b.c", "....", "\u0000"])("that is no signed token is refused: %j", (proof) =>
    expectFault("malformed", proof),
  );

  it("that is refused for any reason is not noted, so that nobody can use up another's", async () => {
    const { seen, check: checkOnce } = createCheck();
    const jti = "chosen-by-an-attacker";
    for (const proof of [proofWith({ jti }, {}, tokenKey("ES256")), proofWith({ jti, htm: "GET" })])
      await expect(checkOnce(callWith(proof))).rejects.toMatchObject({ reason: "PROOF_INVALID" });
    expect(seen.size).toBe(0);
  });
});

describe("a nonce", () => {
  const nonceError = (nowMs: number) => ({
    reason: "PROOF_NONCE_REQUIRED",
    headers: { "dpop-nonce": nonces.current(nowMs), "www-authenticate": 'DPoP error="use_dpop_nonce"' },
  });

  it("of the service is needed with a token, and the refusal contains one", async () => {
    for (const nonce of [undefined, "", "x", 7, nonces.current(NOW_MS - 300_000)])
      await expect(check(callWith(proofWith({ nonce })))).rejects.toMatchObject(nonceError(NOW_MS));
  });

  it("is accepted for the two minutes before and after its own, by the clock of the service alone", async () => {
    const accepts = async (nowMs: number) => {
      const proof = proofWith({ iat: 0, nonce: nonces.current(NOW_MS) });
      return check(callWith(proof, { nowMs })).then(
        () => true,
        () => false,
      );
    };
    const start = Math.floor(NOW_MS / 120_000) * 120_000;
    expect(await accepts(start - 120_000)).toBe(true);
    expect(await accepts(start + 239_999)).toBe(true);
    expect(await accepts(start - 120_001)).toBe(false);
    expect(await accepts(start + 240_000)).toBe(false);
  });

  it("of one replica is accepted by every replica on its database, and by no other service", async () => {
    const nonce = createProofNonces(new Uint8Array(32).fill(7)).current(NOW_MS);
    await check(callWith(proofWith({ nonce })));
    const foreign = createProofNonces(new Uint8Array(32).fill(8)).current(NOW_MS);
    await expect(check(callWith(proofWith({ nonce: foreign })))).rejects.toMatchObject(nonceError(NOW_MS));
  });

  it("may be missing where the call asks for a token, if the proof was made within the last minute", async () => {
    const call = { token: undefined, thumbprint: undefined };
    const proof = (iat: number) => proofWith({ ath: undefined, nonce: undefined, iat });
    for (const offset of [-60, 0, 60])
      await expect(check(callWith(proof(NOW_MS / 1_000 + offset), call))).resolves.toBeDefined();
    for (const offset of [-61, 61, Number.MAX_SAFE_INTEGER])
      await expectFault("time", proof(NOW_MS / 1_000 + offset), call);
  });
});

describe("the URL of a proof", () => {
  it("may have any scheme and host if the service does not know its own", async () => {
    for (const origin of ["https://tss.example", "http://10.0.0.7:3000", "https://other.example"])
      await check(callWith(proofWith({ htu: `${origin}/tss.v1.Signing/ReserveSign` })));
  });

  it("is compared without query and fragment, normalized", async () => {
    for (const htu of [
      "https://tss.example/tss.v1.Signing/ReserveSign?x=1#y",
      "https://tss.example/a/../tss.v1.Signing/ReserveSign",
    ])
      await check(callWith(proofWith({ htu }), { url: `${URL_OF_CALL}?connect=v1` }));
  });

  it("has one of the public URLs of the service if they are configured", async () => {
    const publicUrls = ["https://tss.example", "https://gateway.example:8443/api/"];
    const { check: strict } = createCheck({ publicUrls });
    const path = "/tss.v1.Signing/ReserveSign";
    for (const prefix of [
      "https://tss.example",
      "https://TSS.example:443",
      "https://gateway.example:8443/api",
    ])
      await strict(callWith(proofWith({ htu: prefix + path })));
    for (const prefix of [
      "http://tss.example",
      "https://tss.example:444",
      "https://gateway.example:8443",
      "https://evil.example",
    ])
      await expect(strict(callWith(proofWith({ htu: prefix + path })))).rejects.toMatchObject(refused("url"));
  });
});
