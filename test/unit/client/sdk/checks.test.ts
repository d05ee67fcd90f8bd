import { describe, expect, test } from "vitest";
import type { SignArgs } from "../../../../src/client/sdk/actions/signing/sign-args.ts";
import { TssError } from "../../../../src/client/sdk/errors.ts";
import { Curve, createClient, Hash, SignatureAlgorithm } from "../../../../src/client/sdk/index.ts";

/** A client whose every call would fail the test. */
const client = createClient({
  baseUrl: "http://service.invalid",
  apiKey: "tss_local_secretsecret",
  network: "localnet",
  transport: {
    unary: () => Promise.reject(new Error("a call was made")),
    stream: () => Promise.reject(new Error("a call was made")),
  },
});
const good: SignArgs = {
  seed: new Uint8Array(32),
  dwalletId: `0x${"1".repeat(64)}`,
  curve: Curve.ED25519,
  signatureAlgorithm: SignatureAlgorithm.EdDSA,
  hashScheme: Hash.SHA512,
  message: new Uint8Array(16_381),
  userSecretKeyShareHex: "00",
};

describe("before any call is made", () => {
  test.each([
    ["a seed of 31 bytes", { seed: new Uint8Array(31) }, "VALIDATION"],
    ["a seed that is not bytes", { seed: "00".repeat(32) as never }, "VALIDATION"],
    [
      "an algorithm of another curve",
      { signatureAlgorithm: SignatureAlgorithm.Taproot },
      "UNSUPPORTED_ALGORITHM",
    ],
    ["a hash of another algorithm", { hashScheme: Hash.SHA256 }, "UNSUPPORTED_ALGORITHM"],
    ["a name that nobody knows", { curve: "P521" as never }, "UNSUPPORTED_ALGORITHM"],
    ["a message of 16,382 bytes", { message: new Uint8Array(16_382) }, "MESSAGE_TOO_LARGE"],
    ["an empty message", { message: new Uint8Array() }, "VALIDATION"],
    ["a short id", { dwalletId: "0x1" }, "VALIDATION"],
    ["an id in upper case", { dwalletId: `0x${"A".repeat(64)}` }, "VALIDATION"],
    ["a share that is not hex", { userSecretKeyShareHex: "zz" }, "VALIDATION"],
    ["a time-out of zero", { timeoutMs: 0 }, "VALIDATION"],
    ["a time-out beyond a timer's range", { timeoutMs: 2 ** 31 }, "VALIDATION"],
  ])("sign refuses %s", async (_name, change, reason) => {
    const error = await client.sign({ ...good, ...change }).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(TssError);
    expect(error).toMatchObject({ reason });
  });

  test("the largest message and both names of Schnorrkel pass the checks", async () => {
    await expect(client.sign(good)).rejects.toMatchObject({ reason: "UNKNOWN" });
    const schnorrkel = { curve: Curve.RISTRETTO, hashScheme: Hash.Merlin };
    for (const signatureAlgorithm of [
      SignatureAlgorithm.Schnorrkel,
      SignatureAlgorithm.SchnorrkelSubstrate,
    ]) {
      await expect(client.sign({ ...good, ...schnorrkel, signatureAlgorithm })).rejects.toMatchObject({
        reason: "UNKNOWN",
      });
    }
  });

  test("an algorithm with presigns of version 3 is refused by name", async () => {
    for (const signatureAlgorithm of [
      "TaprootVSS",
      "EdDSAVSS",
      "SchnorrkelVSS",
    ] as unknown as SignatureAlgorithm[])
      await expect(client.sign({ ...good, signatureAlgorithm })).rejects.toMatchObject({
        reason: "UNSUPPORTED_ALGORITHM",
        message: `${signatureAlgorithm} signs with presigns of version 3, which this client cannot use`,
      });
  });

  test("onboard, recoverShare and the resumptions refuse malformed arguments", async () => {
    const seed = new Uint8Array(31);
    const { dwalletId } = good;
    const refused = [
      client.onboard({ seed, curve: "ED25519" }),
      client.resumeOnboard({ seed, curve: "ED25519", dwalletId }),
      client.resumeOnboard({ seed: good.seed, curve: "ED25519", dwalletId: "1" }),
      client.recoverShare({ seed, curve: "ED25519", dwalletId }),
      client.recoverShare({ seed: good.seed, curve: "ED25519", dwalletId: "" }),
      client.recoverShare({
        seed: good.seed,
        curve: "ED25519",
        dwalletId,
        encryptedUserSecretKeyShareId: "x",
      }),
      client.resumeSign({ signRequestId: "7" }),
    ];
    for (const promise of refused) await expect(promise).rejects.toMatchObject({ reason: "VALIDATION" });
    await expect(client.onboard({ seed: good.seed, curve: "toString" as never })).rejects.toMatchObject({
      reason: "UNSUPPORTED_ALGORITHM",
    });
  });

  test("an earlier abort is reported as an abort", async () => {
    const signal = AbortSignal.abort(new Error("changed my mind"));
    await expect(client.sign(good, { signal })).rejects.toMatchObject({ reason: "ABORTED" });
  });
});
