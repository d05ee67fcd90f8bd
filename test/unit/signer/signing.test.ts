import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { p2wpkh, Transaction } from "@scure/btc-signer";
import { afterEach, describe, expect, it } from "vitest";
import { SignRequestSchema } from "../../../gen/proto/tss/signer/v1/signer_pb.ts";
import { Hash, SignatureAlgorithm } from "../../../gen/proto/tss/v1/types_pb.ts";
import { type TssClient, TssError } from "../../../src/client/sdk/index.ts";
import { createRedact } from "../../../src/service/platform/telemetry/redact.ts";
import { Secret } from "../../../src/service/platform/telemetry/secret.ts";
import { EVERYONE } from "../../../src/signer/access/caller.ts";
import type { ActiveKey } from "../../../src/signer/keys.ts";
import type { SigningStage } from "../../../src/signer/request-signer.ts";
import { fromTssError } from "../../../src/signer/signer-error.ts";
import { createSigning } from "../../../src/signer/signing.ts";
import { withStages } from "../../../src/signer/with-stages.ts";
import { createLatch } from "../../component/transport/fake-services.ts";

const key: ActiveKey = {
  name: "a",
  curve: "ED25519",
  seed: new Uint8Array(32).fill(7),
  createTimeMs: 0,
  progress: {
    kind: "active",
    dwallet: { dwalletId: "0x1", publicKeyHex: "aa".repeat(32), sessionDigestHex: "bb" },
  },
};
const publicKey = secp256k1.getPublicKey(new Uint8Array(32).fill(5), true);
const publicKeyHex = Buffer.from(publicKey).toString("hex");
const bitcoinKey: ActiveKey = {
  ...key,
  curve: "SECP256K1",
  progress: { kind: "active", dwallet: { dwalletId: "0x1", publicKeyHex, sessionDigestHex: "bb" } },
};
const redact = createRedact([new Secret("the-api-key-of-a-project")]);
let nowMs = 0;
const call = {
  caller: EVERYONE,
  requestId: "r",
  signal: new AbortController().signal,
  timeoutMs: () => 10_000 - nowMs,
};
afterEach(() => {
  nowMs = 0;
});
const signature = new Uint8Array(64);
const signed = { signature, signRequestId: "s", signSessionId: "0x2", txDigest: null };

describe("a signature", () => {
  it("passes the caller's idempotency key, and the time that is left less the time for the reply", async () => {
    const seen: unknown[] = [];
    const signing = signingOf(async (args, options) => {
      seen.push(options?.idempotencyKey, args.timeoutMs, args.dwalletId, args.sessionDigestHex);
      return signed;
    });
    await signing.sign(request({ idempotencyKey: "payment-1" }), call);
    expect(seen).toEqual(["payment-1", 9_750, "0x1", "bb"]);
  });

  it("has its own idempotency key if the caller gives none, another one each time", async () => {
    const seen = new Set<unknown>();
    const signing = signingOf(async (_, options) => {
      seen.add(options?.idempotencyKey);
      return signed;
    });
    for (const _ of [1, 2, 3]) await signing.sign(request({}), call);
    expect(seen.size).toBe(3);
    expect(seen).not.toContain(undefined);
  });

  it("is one of a bounded number at a time, and a place is free after a failure too", async () => {
    const latch = createLatch();
    const signing = signingOf(async () => {
      await latch.wait();
      throw new TssError("TIMEOUT", "late");
    }, 2);
    const running = [1, 2].map(() => signing.sign(request({}), call));
    const ended = Promise.allSettled(running);
    await latch.entered;
    const busy = { reason: "SIGNER_BUSY", retryAfterSeconds: 1 };
    await expect(signing.sign(request({}), call)).rejects.toMatchObject(busy);
    await expect(signing.signMany([request({})], call)).rejects.toMatchObject(busy);
    latch.open();
    await ended;
    await expect(signing.sign(request({}), call)).rejects.toMatchObject({ reason: "TIMEOUT" });
  });
});

describe("a signature with stages", () => {
  it("tells each stage before its result, and none after it", async () => {
    const signing = signingOf(async (_, options) => {
      options?.onProgress?.("reserve", 1);
      await Promise.resolve();
      options?.onProgress?.("compute", 2);
      options?.onProgress?.("done", 3);
      return signed;
    });
    const events = withStages((onStage: (stage: SigningStage) => void) =>
      signing.sign(request({}), { ...call, onStage }),
    );
    const seen = await collect(events);
    expect(seen.map((event) => ("stage" in event ? event.stage.name : "result"))).toEqual([
      "reserve",
      "compute",
      "result",
    ]);
  });

  it("ends with the failure, after the stages before it", async () => {
    const signing = signingOf(async (_, options) => {
      options?.onProgress?.("reserve", 1);
      throw new TssError("TIMEOUT", "late");
    });
    const events = withStages((onStage: (stage: SigningStage) => void) =>
      signing.sign(request({}), { ...call, onStage }),
    );
    expect(await events.next()).toMatchObject({ value: { stage: { name: "reserve" } } });
    await expect(events.next()).rejects.toMatchObject({ reason: "TIMEOUT" });
  });
});

describe("a PSBT's signatures", () => {
  it("take places, have the request's key with their index, and a failure names the request's own key", async () => {
    const latch = createLatch();
    const seen: (string | undefined)[] = [];
    const signing = signingOf(
      async (_, options) => {
        seen.push(options?.idempotencyKey);
        await latch.wait();
        throw new TssError("TIMEOUT", "late", { metadata: { idempotencyKey: options!.idempotencyKey! } });
      },
      2,
      bitcoinKey,
    );
    const payload = { case: "bitcoinPsbt" as const, value: psbtOf(2) };
    const running = signing.sign(request({ payload, idempotencyKey: "payment" }), call);
    const ended = expect(running).rejects.toMatchObject({ metadata: { idempotencyKey: "payment" } });
    await latch.entered;
    await expect(signing.sign(request({}), call)).rejects.toMatchObject({ reason: "SIGNER_BUSY" });
    latch.open();
    await ended;
    expect(seen).toEqual(["payment/0", "payment/1"]);
  });

  it.each([
    [1, 1],
    [2, 2],
    [8, 3],
  ])("of three inputs run in the places that are free of %s", async (places, expected) => {
    let [runningCount, mostCount] = [0, 0];
    const signing = signingOf(
      async () => {
        mostCount = Math.max(mostCount, ++runningCount);
        await Promise.resolve();
        runningCount--;
        throw new TssError("TIMEOUT", "late");
      },
      places,
      bitcoinKey,
    );
    const payload = { case: "bitcoinPsbt" as const, value: psbtOf(3) };
    await expect(signing.sign(request({ payload }), call)).rejects.toMatchObject({ reason: "TIMEOUT" });
    expect(mostCount).toBe(expected);
  });
});

describe("many signatures", () => {
  it("run 8 at a time, and have the order of their requests", async () => {
    let [runningCount, mostCount] = [0, 0];
    const signing = signingOf(async ({ message }) => {
      mostCount = Math.max(mostCount, ++runningCount);
      await Promise.resolve();
      runningCount--;
      return { ...signed, signRequestId: String(message[0]) };
    });
    const results = await signing.signMany(
      Array.from({ length: 20 }, (_, at) => request({}, at + 1)),
      call,
    );
    expect(mostCount).toBe(8);
    expect(results.map(({ result }) => result?.case === "signed" && result.value.signRequestId)).toEqual(
      Array.from({ length: 20 }, (_, at) => String(at + 1)),
    );
  });

  it("end with the call, and not as long after it as they began late", async () => {
    const seen: (number | undefined)[] = [];
    const signing = signingOf(async ({ timeoutMs }) => {
      seen.push(timeoutMs);
      nowMs += 4_000;
      return signed;
    }, 1);
    await signing.signMany([request({}), request({}, 2)], call);
    expect(seen).toEqual([9_750, 5_750]);
  });

  it("with one idempotency key twice are refused, before any is made", async () => {
    const signing = signingOf(() => Promise.reject(new Error("must not be called")));
    const requests = [request({ idempotencyKey: "x" }), request({}), request({ idempotencyKey: "x" })];
    expect(() => signing.signMany(requests, call)).toThrow("requests[2].idempotency_key");
  });

  it("tell nothing of an unexpected failure", async () => {
    const signing = signingOf(() => Promise.reject(new Error("the seed is 0707")));
    const [result] = await signing.signMany([request({})], call);
    expect(JSON.stringify(result)).not.toContain("0707");
    expect(result?.result).toMatchObject({ case: "failure", value: { reason: "INTERNAL" } });
  });
});

describe("an error of the SDK", () => {
  it.each([
    ["TIMEOUT", Code.DeadlineExceeded],
    ["UNREACHABLE", Code.Unavailable],
    ["INSUFFICIENT_CREDIT", Code.FailedPrecondition],
    ["RATE_LIMITED", Code.ResourceExhausted],
    ["SIGNATURE_INVALID", Code.FailedPrecondition],
    // The caller's own credentials are right.
    ["INVALID_KEY", Code.FailedPrecondition],
    ["SCOPE_MISSING", Code.FailedPrecondition],
    ["toString", Code.FailedPrecondition],
  ])("with the reason %s gets the code %s", (reason, code) => {
    expect(fromTssError(new TssError(reason, "x"), redact)).toMatchObject({ reason, code });
  });

  it("shows no secret of the signer, whoever wrote it into a text", () => {
    const secret = "the-api-key-of-a-project";
    const error = new TssError(`X_${secret}`, `no ${secret}`, { metadata: { [secret]: secret, ok: "1" } });
    const { message, reason, metadata } = fromTssError(error, redact);
    expect(JSON.stringify({ message, reason, metadata })).not.toContain(secret);
    expect(metadata).toMatchObject({ ok: "1" });
  });
});

function signingOf(sign: TssClient["sign"], maxCount?: number, of: ActiveKey = key) {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const keys = { getActive: () => of };
  return createSigning({
    keys,
    client: { sign },
    log,
    redact,
    count: () => {},
    maxCount,
    nowMs: () => nowMs,
  });
}

function request(more: MessageInitShape<typeof SignRequestSchema>, octet = 1) {
  const message = Uint8Array.of(octet);
  const value = { message, signatureAlgorithm: SignatureAlgorithm.EdDSA, hashScheme: Hash.SHA512 };
  return create(SignRequestSchema, { name: "a", payload: { case: "raw", value }, ...more });
}

function psbtOf(inputCount: number): Uint8Array {
  const transaction = new Transaction();
  const { script } = p2wpkh(publicKey);
  for (let index = 0; index < inputCount; index++)
    transaction.addInput({ txid: "17".repeat(32), index, witnessUtxo: { script, amount: 1000n } });
  transaction.addOutput({ script, amount: 900n });
  return transaction.toPSBT();
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
