import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { SignRequestSchema } from "../../../gen/proto/tss/signer/v1/signer_pb.ts";
import { Hash, SignatureAlgorithm } from "../../../gen/proto/tss/v1/types_pb.ts";
import { type TssClient, TssError } from "../../../src/client/sdk/index.ts";
import type { Log } from "../../../src/service/platform/telemetry/logger.ts";
import { createRedact } from "../../../src/service/platform/telemetry/redact.ts";
import { parseAccessList } from "../../../src/signer/access/access-list.ts";
import { type Caller, createCaller } from "../../../src/signer/access/caller.ts";
import { createFairPlaces } from "../../../src/signer/access/fair-places.ts";
import { createSlidingBound } from "../../../src/signer/access/sliding-bound.ts";
import { createEthereumCalls } from "../../../src/signer/ethereum/ethereum-calls.ts";
import { createKeys } from "../../../src/signer/keys.ts";
import { createSigning } from "../../../src/signer/signing.ts";
import { createMemoryKeyStore } from "../../../src/signer/store/memory-key-store.ts";
import { createLatch } from "../../component/transport/fake-services.ts";
import { silentLog } from "../../support/silent-log.ts";

const digest = createHash("sha256").update("token").digest("hex");
const minimal = { name: "a", tokenSha256: digest, keys: ["a-*"] };
const denied = { reason: "CALLER_NOT_ALLOWED" };
const signal = new AbortController().signal;
const redact = createRedact();

describe("a file of callers", () => {
  it.each([
    ["{", "it is not JSON"],
    [[], "the file must be an object"],
    [{ callers: [] }, "callers must be a list of 1 to 32 callers"],
    [{ callers: Array.from({ length: 33 }, () => minimal) }, "callers must be a list"],
    [{ callers: [minimal], caller: [] }, 'the file has the unknown field "caller"'],
    [callersOf({ mayCreate: true }), 'callers[0] has the unknown field "mayCreate"'],
    [callersOf({ name: undefined }), "callers[0].name is missing"],
    [callersOf({ name: "a/b" }), "callers[0].name must have"],
    [callersOf({ keys: undefined }), "callers[0].keys is missing"],
    [callersOf({ keys: ["a*b"] }), "callers[0].keys must have"],
    [callersOf({ tokenSha256: undefined }), "callers[0] needs tokenSha256, tokenFile, certificate or socket"],
    [callersOf({ tokenSha256: "token" }), "callers[0].tokenSha256 must have SHA-256"],
    [callersOf({ curves: ["ED25519", "P521"] }), "callers[0].curves must have some of SECP256K1"],
    [callersOf({ curves: [] }), "callers[0].curves must have some of"],
    [callersOf({ payloads: ["everything"] }), "callers[0].payloads must have some of raw, evm_message"],
    [callersOf({ createKeys: "yes" }), "callers[0].createKeys must be true or false"],
    [callersOf({ signaturesPerDay: -1 }), "callers[0].signaturesPerDay must be a whole number"],
    [callersOf({ socket: true, certificate: "x" }), "has certificate and socket"],
    [{ callers: [minimal, { ...minimal, name: "b" }] }, "the caller b has a name, a token"],
    [{ callers: [minimal, minimal] }, "the caller a has a name"],
  ])("%j is refused: %s", (content, fault) => {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    expect(() => parseAccessList(text, "/")).toThrow(fault);
  });
});

describe("a caller", () => {
  it("uses and sees the keys of its names alone, whether or not there are others", () => {
    const caller = callerOf({ keys: ["payouts-*", "treasury"] });
    for (const name of ["payouts-1", "payouts-", "treasury"]) {
      caller.checkKey(name);
      expect(caller.sees(name)).toBe(true);
    }
    for (const name of ["payouts", "treasury-2", "other", "xpayouts-1"]) {
      expect(caller.sees(name)).toBe(false);
      expect(() => caller.checkKey(name)).toThrow(
        expect.objectContaining({ ...denied, metadata: { caller: "a", field: "name" } }),
      );
    }
  });

  it("signs the payloads and uses the curves of its rules alone", () => {
    const caller = callerOf({ curves: ["SECP256K1"], payloads: ["evm_message"] });
    caller.checkPayload("a-1", "evmMessage", "SECP256K1");
    const fieldOf = (kind: string, curve: string) => {
      expect(() => caller.checkPayload("a-1", kind, curve)).toThrow(expect.objectContaining(denied));
      try {
        caller.checkPayload("a-1", kind, curve);
      } catch (error) {
        return (error as { violations: { field: string }[] }).violations[0]?.field;
      }
      return undefined;
    };
    expect(fieldOf("evmTransaction", "SECP256K1")).toBe("evm_transaction");
    expect(fieldOf("raw", "SECP256K1")).toBe("raw");
    expect(fieldOf("evmMessage", "ED25519")).toBe("name");
  });

  it("makes keys only if its rules say so, on its curves, and as many as they say", () => {
    expect(() => callerOf({}).checkCreate("a-1", "ED25519", [])).toThrow("may not make keys");
    const caller = callerOf({ createKeys: true, curves: ["ED25519"], maxKeys: 2 });
    caller.checkCreate("a-1", "ED25519", ["a-2", "b-1", "b-2"]);
    expect(() => caller.checkCreate("a-1", "SECP256K1", [])).toThrow("curve: the caller may not");
    expect(() => caller.checkCreate("b-1", "ED25519", [])).toThrow("name: the caller may not use");
    expect(() => caller.checkCreate("a-1", "ED25519", ["a-2", "a-3"])).toThrow("2 keys at most");
  });

  it("is in the audit lines with each refusal, by whatever call it came", async () => {
    const lines: object[] = [];
    const log = { ...silentLog, info: (fields: object | string) => void lines.push(Object(fields)) };
    const caller = callerOf({ keys: ["a-*"], payloads: ["raw"], signaturesPerDay: 0 }, () => 0, log);
    const { signing, ethereum } = await signerWith(async () => signed);
    const call = { caller, requestId: "r", signal, timeoutMs: () => undefined };
    await signing.signMany([request("b-1"), request("a-1")], call);
    expect(() => caller.checkPayload("a-1", "evmMessage", "SECP256K1")).toThrow(
      expect.objectContaining(denied),
    );
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_accounts" }));
    await ethereum.serve(body, call);
    const common = { audit: "refused", caller: "a" };
    expect(lines).toEqual([
      { ...common, keyName: "b-1", field: "name", outcome: "CALLER_NOT_ALLOWED" },
      { ...common, window: "day", outcome: "CALLER_RATE_EXCEEDED" },
      { ...common, keyName: "a-1", field: "evm_message", outcome: "CALLER_NOT_ALLOWED" },
      { ...common, field: "payload", outcome: "CALLER_NOT_ALLOWED" },
    ]);
  });

  it("never signs more in any minute or day than its rules say", () => {
    let nowMs = 1_000_000_123;
    const caller = callerOf({ signaturesPerMinute: 3, signaturesPerDay: 5 }, () => nowMs);
    const times: number[] = [];
    for (let step = 0; step < 4_000; step++, nowMs += 30_011) {
      try {
        for (;;) {
          caller.countSignature();
          times.push(nowMs);
        }
      } catch (error) {
        expect(error).toMatchObject({ reason: "CALLER_RATE_EXCEEDED" });
        expect((error as { retryAfterSeconds: number }).retryAfterSeconds).toBeGreaterThanOrEqual(1);
      }
    }
    expect(times.length).toBeGreaterThan(5);
    for (const [at, time] of times.entries()) {
      const within = (windowMs: number) => times.slice(0, at + 1).filter((each) => each > time - windowMs);
      expect(within(60_000).length).toBeLessThanOrEqual(3);
      expect(within(86_400_000).length).toBeLessThanOrEqual(5);
    }
  });
});

describe("a caller with another one's keys", () => {
  it("neither signs with them nor learns of them, by any call", async () => {
    const { signing, keys, ethereum } = await signerWith(async () => signed);
    const a = callerOf({ keys: ["a-*"] });
    const call = { caller: a, requestId: "r", signal, timeoutMs: () => undefined };
    await expect(signing.sign(request("b-1"), call)).rejects.toMatchObject(denied);
    await expect(signing.sign(request("b-unknown"), call)).rejects.toMatchObject(denied);
    const [own, other] = await signing.signMany([request("a-1"), request("b-1")], call);
    expect(own?.result?.case).toBe("signed");
    expect(other?.result).toMatchObject({ case: "failure", value: denied });
    await expect(keys.create({ name: "b-1", curve: "SECP256K1" }, a)).rejects.toMatchObject(denied);
    const rpc = async (method: string, params: readonly unknown[]) => {
      const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
      return JSON.parse((await ethereum.serve(body, call))!) as { result?: string[]; error?: object };
    };
    const { result: seen } = await rpc("eth_accounts", []);
    expect(seen).toEqual([addressOf("a-1")]);
    for (const [method, params] of [
      ["personal_sign", ["0x00", addressOf("b-1")]],
      ["eth_signTypedData_v4", [addressOf("b-1"), "{}"]],
      ["eth_signTransaction", [{ from: addressOf("b-1"), to: addressOf("a-1") }]],
      ["eth_sendTransaction", [{ from: addressOf("b-1"), to: addressOf("a-1") }]],
    ] as const)
      expect((await rpc(method, params)).error).toMatchObject({
        message: expect.stringContaining("that the caller may use"),
      });
    const onlyRaw = { ...call, caller: callerOf({ payloads: ["raw"] }) };
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_accounts" }));
    expect(JSON.parse((await ethereum.serve(body, onlyRaw))!)).toMatchObject({
      error: { data: { reason: "CALLER_NOT_ALLOWED" } },
    });
  });

  it("cannot use up their idempotency keys, and repeats a call with its own key", async () => {
    const seen: (string | undefined)[] = [];
    const { signing } = await signerWith(async (_, options) => {
      seen.push(options?.idempotencyKey);
      if (seen.length <= 2) return signed;
      const metadata = { idempotencyKey: options?.idempotencyKey ?? "" };
      throw new TssError("TIMEOUT", "late", { metadata });
    });
    const [a, b] = ["a", "b"].map((name) => callerOf({ name, keys: ["*"] }));
    const common = { requestId: "r", signal, timeoutMs: () => undefined };
    for (const caller of [a!, b!])
      await signing.sign({ ...request("a-1"), idempotencyKey: "payment-1" }, { ...common, caller });
    expect(seen).toEqual(["a/payment-1", "b/payment-1"]);
    const long = "x".repeat(255);
    const late = signing.sign({ ...request("a-1"), idempotencyKey: long }, { ...common, caller: a! });
    await expect(late).rejects.toMatchObject({ metadata: { idempotencyKey: long } });
    // An input of a PSBT adds its index.
    const longest = "x".repeat(252);
    const again = signing.sign({ ...request("a-1"), idempotencyKey: longest }, { ...common, caller: a! });
    await expect(again).rejects.toMatchObject({ metadata: { idempotencyKey: longest } });
    for (const key of seen) expect(key!.length).toBeLessThanOrEqual(250);
  });

  it("cannot take the places of another one, whatever it calls", async () => {
    const latch = createLatch();
    const { signing } = await signerWith(async () => {
      await latch.wait();
      return signed;
    }, ["a", "b"]);
    const [a, b] = ["a", "b"].map((name) => ({
      caller: callerOf({ name, keys: ["*"] }),
      requestId: "r",
      signal,
      timeoutMs: () => undefined,
    }));
    const running: Promise<unknown>[] = [];
    for (let count = 0; count < 64; count++)
      running.push(signing.sign(request("a-1"), a!).catch(({ reason }: { reason: string }) => reason));
    const many = signing.signMany([request("a-1"), request("a-1")], a!);
    await expect(many).rejects.toMatchObject({ reason: "SIGNER_BUSY" });
    // 16 of 64 places are B's.
    const ofB = Array.from({ length: 16 }, () => signing.sign(request("b-1"), b!));
    await expect(signing.sign(request("b-1"), b!)).rejects.toMatchObject({ reason: "SIGNER_BUSY" });
    latch.open();
    expect((await Promise.all(running)).filter((each) => each === "SIGNER_BUSY")).toHaveLength(16);
    await Promise.all(ofB);
  });
});

describe("places", () => {
  it("are at least one for each caller, and come back after a failure", async () => {
    const names = Array.from({ length: 20 }, (_, at) => `caller-${at}`);
    const places = createFairPlaces(8, () => names, "keys");
    const latch = createLatch();
    const running = names.map((name) => places.use(name, 5, (count) => latch.wait().then(() => count)));
    await expect(places.use("caller-0", 1, async () => 0)).rejects.toMatchObject({ reason: "SIGNER_BUSY" });
    latch.open();
    expect(await Promise.all(running)).toEqual(names.map(() => 1));
    for (let count = 0; count < 30; count++)
      await expect(places.use("caller-0", 1, () => Promise.reject(new Error("x")))).rejects.toThrow("x");
    expect(await places.use("caller-0", 8, async (count) => count)).toBe(1);
  });
});

function callersOf(more: object) {
  return { callers: [{ ...minimal, ...more }] };
}

function callerOf(more: object, now: () => number = () => 0, log: Log = silentLog): Caller {
  const [rules] = parseAccessList(JSON.stringify(callersOf(more)), "/");
  const counts = {
    minute: createSlidingBound(60_000, now),
    day: createSlidingBound(86_400_000, now),
  };
  return createCaller(rules!, counts, log);
}

const signed = { signature: new Uint8Array(65), signRequestId: "s", signSessionId: "0x2", txDigest: null };
/** Points of SECP256K1: its generator, and twice that. */
const PUBLIC_KEYS: Readonly<Record<string, string>> = {
  "a-1": "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
  "b-1": "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5",
};
/** Their well-known addresses. */
function addressOf(name: "a-1" | "b-1"): string {
  return {
    "a-1": "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf",
    "b-1": "0x2B5AD5c4795c026514f8317c7a215E218DcCD6cF",
  }[name];
}

/** A signer with two active keys, `a-1` and `b-1`. */
async function signerWith(sign: TssClient["sign"], names: readonly string[] = ["a"]) {
  const store = createMemoryKeyStore();
  for (const [name, publicKeyHex] of Object.entries(PUBLIC_KEYS)) {
    const dwallet = { dwalletId: "0x1", publicKeyHex, sessionDigestHex: "" };
    const progress = { kind: "active", dwallet } as const;
    await store.add({ name, curve: "SECP256K1", seed: new Uint8Array(32), createTimeMs: 0, progress });
  }
  const never = () => Promise.reject(new Error("must not be called"));
  const callerNames = () => names;
  const keys = createKeys({
    store,
    client: { getOrCreate: never, resume: never },
    log: silentLog,
    callerNames,
  });
  const signing = createSigning({ keys, client: { sign }, log: silentLog, redact, count() {}, callerNames });
  const common = { keys, signing, chainId: 5, node: undefined, maxFeeWei: 1n, redact, callerNames };
  return { keys, signing, ethereum: createEthereumCalls(common) };
}

function request(name: string) {
  const value = {
    message: Uint8Array.of(1),
    signatureAlgorithm: SignatureAlgorithm.ECDSASecp256k1,
    hashScheme: Hash.KECCAK256,
  };
  return create(SignRequestSchema, { name, payload: { case: "raw", value } });
}
