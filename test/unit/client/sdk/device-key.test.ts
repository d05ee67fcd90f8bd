import { createHash, createPublicKey, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  createProvingFetch,
  openDeviceKey,
  thumbprintOfKey,
} from "../../../../src/client/sdk/sessions/device-key.ts";
import { createProofNonces } from "../../../../src/service/access/dpop/proof-nonces.ts";
import { createProofCheck } from "../../../../src/service/access/dpop/verify-proof.ts";

const URL_OF_CALL = "https://tss.example/tss.v1.Signing/ReserveSign";
const decoded = (part: string | undefined) => JSON.parse(Buffer.from(part ?? "", "base64url").toString());

describe("the key of a device", () => {
  it("signs a proof for one method, URL, token and nonce", async () => {
    const device = await openDeviceKey();
    const proof = await device.signProof({
      method: "POST",
      url: `${URL_OF_CALL}?a=1#b`,
      token: "t",
      nonce: "n",
    });
    const [head, claims, signature] = proof.split(".");
    const { typ, alg, jwk } = decoded(head);
    expect({ typ, alg }).toEqual({ typ: "dpop+jwt", alg: "ES256" });
    expect(Object.keys(jwk).sort()).toEqual(["crv", "kty", "x", "y"]);
    expect(decoded(claims)).toMatchObject({
      htm: "POST",
      htu: URL_OF_CALL,
      ath: createHash("sha256").update("t").digest("base64url"),
      nonce: "n",
    });
    const key = { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" } as const;
    const bytes = Buffer.from(signature ?? "", "base64url");
    expect(verify("sha256", Buffer.from(`${head}.${claims}`), key, bytes)).toBe(true);
    expect(
      decoded((await device.signProof({ method: "POST", url: URL_OF_CALL })).split(".")[1]).jti,
    ).not.toBe(decoded(claims).jti);
  });

  it("makes proofs that the service accepts", async () => {
    const device = await openDeviceKey();
    const nonces = createProofNonces(new Uint8Array(32));
    const check = createProofCheck({ nonces, seenProofs: { isFirst: async () => true } });
    const nowMs = Date.now();
    const call = { method: "POST", url: URL_OF_CALL, token: "t", nonce: nonces.current(nowMs) };
    const proof = await device.signProof(call);
    const { thumbprint } = device;
    expect(await check({ ...call, proof, thumbprint, nowMs })).toEqual({ thumbprint });
  });

  it("has the thumbprint of RFC 7638 and RFC 8037", async () => {
    // The example of RFC 8037, appendix A.3.
    const jwk = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };
    expect(await thumbprintOfKey({ ...jwk, kid: "ignored" } as JsonWebKey)).toBe(
      "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
    );
    await expect(thumbprintOfKey({ kty: "EC", crv: "P-256", x: "a" })).rejects.toThrow("lacks a member");
  });

  it("differs between devices", async () => {
    const [first, second] = [await openDeviceKey(), await openDeviceKey()];
    expect(first.thumbprint).not.toBe(second.thumbprint);
  });
});

describe("a device key that is kept", () => {
  it("is the same for every page that opens it, even if they open it at once", async () => {
    const storage = memoryStorage();
    const opened = await Promise.all([1, 2, 3].map(() => openDeviceKey({ storage })));
    const later = await openDeviceKey({ storage });
    expect(new Set([...opened, later].map(({ thumbprint }) => thumbprint)).size).toBe(1);
    expect((await openDeviceKey({ storage, name: "other" })).thumbprint).not.toBe(later.thumbprint);
  });

  it("has a private part that no script can read", async () => {
    const storage = memoryStorage();
    await openDeviceKey({ storage });
    const { privateKey } = storage.kept.get("default")!;
    expect(privateKey.extractable).toBe(false);
    await expect(crypto.subtle.exportKey("jwk", privateKey)).rejects.toThrow();
  });

  it("lives in memory where the browser refuses to store it", async () => {
    const open = () =>
      answering(() => {
        throw new Error("denied");
      });
    const storage = { open } as unknown as IDBFactory;
    expect((await openDeviceKey({ storage })).thumbprint).toMatch(/^[\w-]{43}$/);
  });
});

/** An IndexedDB with one store, whose requests answer in the order in which they were made. */
function memoryStorage(): IDBFactory & { readonly kept: Map<string, CryptoKeyPair> } {
  const kept = new Map<string, CryptoKeyPair>();
  const store = {
    get: (name: string) => answering(() => kept.get(name)),
    put: (pair: CryptoKeyPair, name: string) => answering(() => kept.set(name, pair)),
  };
  const database = { transaction: () => ({ objectStore: () => store }), close() {} };
  return { kept, open: () => answering(() => database) } as unknown as ReturnType<typeof memoryStorage>;
}

function answering(answer: () => unknown) {
  const request = { result: undefined as unknown, error: undefined as unknown, onsuccess() {}, onerror() {} };
  queueMicrotask(() => {
    try {
      request.result = answer();
    } catch (error) {
      request.error = error;
      return request.onerror();
    }
    return request.onsuccess();
  });
  return request;
}

describe("a proving fetch", () => {
  const authorised = { method: "POST", headers: { authorization: "Bearer t" }, body: "x" };
  /** A service that answers in turn, and the nonces of the proofs that it got. */
  async function service(...replies: readonly { status: number; nonce?: string }[]) {
    const nonces: (string | undefined)[] = [];
    const send = async (_input: unknown, init?: RequestInit) => {
      const proof = new Headers(init?.headers).get("dpop");
      nonces.push(proof === null ? "no proof" : decoded(proof.split(".")[1]).nonce);
      const { status, nonce } = replies[nonces.length - 1]!;
      return new Response(null, { status, headers: nonce === undefined ? {} : { "dpop-nonce": nonce } });
    };
    return { nonces, call: createProvingFetch(await openDeviceKey(), send as typeof fetch) };
  }

  it("sends a call again with the nonce that the service asks for, and keeps the newest nonce", async () => {
    const { nonces, call } = await service(
      { status: 401, nonce: "a" },
      { status: 200 },
      { status: 200, nonce: "b" },
      { status: 200 },
    );
    for (let index = 0; index < 3; index++) expect((await call(URL_OF_CALL, authorised)).status).toBe(200);
    expect(nonces).toEqual([undefined, "a", "a", "b"]);
  });

  it("sends a call at most twice, and once if the refusal has another reason", async () => {
    const stubborn = await service({ status: 401, nonce: "a" }, { status: 401, nonce: "b" });
    expect((await stubborn.call(URL_OF_CALL, authorised)).status).toBe(401);
    expect(stubborn.nonces).toEqual([undefined, "a"]);
    const revoked = await service({ status: 401 });
    expect((await revoked.call(URL_OF_CALL, authorised)).status).toBe(401);
    expect(revoked.nonces).toEqual([undefined]);
  });

  it("proves nothing without a token", async () => {
    const { nonces, call } = await service({ status: 200 });
    await call(URL_OF_CALL, { method: "POST", body: "x" });
    expect(nonces).toEqual(["no proof"]);
  });
});
