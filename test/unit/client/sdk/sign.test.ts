import { Code, ConnectError } from "@connectrpc/connect";
import { bytesToHex } from "@noble/hashes/utils.js";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { SignRequest_Status as Status } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { resumeSign, sign } from "../../../../src/client/sdk/actions/signing/sign.ts";
import type { SignArgs } from "../../../../src/client/sdk/actions/signing/sign-args.ts";
import { TssError } from "../../../../src/client/sdk/errors.ts";
import { flipBit, vectorOf } from "../../../support/crypto/signature-vectors.ts";
import {
  createFakeService,
  DWALLET,
  DWALLET_ID,
  type FakeService,
  MESSAGE,
  SEED,
  SIGN_REQUEST_ID,
  SIGN_SESSION_ID,
  serviceError,
} from "./fake-service.ts";
import { hourAt } from "./hour-at.ts";

const args: SignArgs = {
  seed: SEED,
  dwalletId: DWALLET_ID,
  curve: "ED25519",
  signatureAlgorithm: "EdDSA",
  hashScheme: "SHA512",
  message: MESSAGE,
  userSecretKeyShareHex: bytesToHex(DWALLET.userSecretKeyShare),
};
const expected = {
  signature: DWALLET.sign(MESSAGE),
  signRequestId: SIGN_REQUEST_ID,
  signSessionId: SIGN_SESSION_ID,
  txDigest: "sign digest",
};

let service: FakeService;
beforeEach(() => {
  service = createFakeService();
  service.script.dwalletState = () => ({ Active: DWALLET.output });
});

/** Makes the first calls of a method fail with these errors. */
function failFirst(method: string, ...errors: Error[]): void {
  service.script.before = (called) => {
    if (called !== method) return;
    const error = errors.shift();
    if (error !== undefined) throw error;
  };
}

test("a signature is returned verified, stage by stage", async () => {
  const stages: string[] = [];
  await expect(sign(service.context, args, { onProgress: (stage) => stages.push(stage) })).resolves.toEqual(
    expected,
  );
  expect(stages).toEqual([
    "dwallet",
    "parameters",
    "share",
    "reserve",
    "compute",
    "submit",
    "queued",
    "submitted",
    "verify",
    "done",
  ]);
});

test("a second signature does not read the network, the parameters or the dWallet again", async () => {
  await sign(service.context, args);
  service.seen.length = 0;
  service.script.signStatuses = [Status.queued, Status.completed];
  await sign(service.context, args);
  expect(service.counts()).toEqual({ reserveSign: 1, submitSign: 1, watchSign: 1 });
});

describe("the request is followed", () => {
  test("by one stream, which resumes at its cursor when it breaks", async () => {
    let messageCount = 0;
    const cursors: string[] = [];
    service.script.watching = (cursor) => {
      if (messageCount === 0 || cursor !== cursors.at(-1)) cursors.push(cursor);
      if (++messageCount === 2) throw new ConnectError("the connection broke", Code.Unavailable);
    };
    service.script.signStatuses = [Status.queued, Status.queued, Status.submitted, Status.completed];
    await expect(sign(service.context, args)).resolves.toEqual(expected);
    expect(cursors).toEqual(["", `cursor ${Status.queued}`]);
    expect(service.counts()).toMatchObject({ reserveSign: 1, submitSign: 1, watchSign: 2, getSign: 1 });
  });

  test("and leaves nothing that keeps the process running", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = timers();
    await sign(service.context, args);
    // Another test's timer may end meanwhile.
    expect(timers()).toBeLessThanOrEqual(before);
  });

  test("by GetSign if no stream can be opened", async () => {
    failFirst("watchSign", ...Array.from({ length: 9 }, () => serviceError(Code.ResourceExhausted, "LIMIT")));
    service.script.signStatuses = [Status.queued, ...Array(5).fill(Status.submitted), Status.completed];
    await expect(sign(service.context, args)).resolves.toEqual(expected);
    expect(service.counts()).toMatchObject({ submitSign: 1, watchSign: 3, getSign: 6 });
  });

  test("by GetSign in parallel with a stream that only sends heartbeats", async () => {
    service.script.onlyHeartbeats = true;
    service.script.signStatuses = [Status.queued, Status.submitted, Status.completed];
    await expect(sign(service.context, args)).resolves.toEqual(expected);
    expect(service.counts()).toMatchObject({ watchSign: 1, getSign: 2 });
  });

  test("by GetSign if the stream stays silent", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      service.script.watching = () => {
        void vi.advanceTimersByTimeAsync(3_000);
        return new Promise(() => {});
      };
      service.script.signStatuses = [Status.queued, Status.completed];
      await expect(sign(service.context, args)).resolves.toEqual(expected);
      expect(service.counts()).toMatchObject({ watchSign: 1, getSign: 1 });
    } finally {
      vi.useRealTimers();
    }
  });
});

test("the computation of the half gets the action's signal, which aborts with the caller's", async () => {
  const abort = new AbortController();
  const { engine } = service.context;
  const context: typeof service.context = {
    ...service.context,
    engine: {
      ...engine,
      createSignMessage: ({ signal }) =>
        new Promise((_, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason));
          abort.abort(new Error("the user closed the page"));
        }),
    },
  };
  await expect(sign(context, args, { signal: abort.signal })).rejects.toMatchObject({ reason: "ABORTED" });
  expect(service.counts()["submitSign"]).toBeUndefined();
});

test("the message is signed as it was at the call, even if its buffer changes", async () => {
  const message = Uint8Array.from(MESSAGE);
  const signing = sign(service.context, { ...args, message });
  message.fill(0);
  await expect(signing).resolves.toEqual(expected);
  const reserved = service.seen.find(({ method }) => method === "reserveSign")?.request;
  expect(reserved).toMatchObject({ message: MESSAGE });
});

test("each reservation has an idempotency key: the caller's, or a new one", async () => {
  await sign(service.context, args);
  await sign(service.context, args);
  await sign(service.context, args, { idempotencyKey: "mine" });
  const keys = service.seen
    .filter(({ method }) => method === "reserveSign")
    .map(({ headers }) => headers.get("idempotency-key"));
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(keys[1]).not.toBe(keys[0]);
  expect(keys[2]).toBe("mine");
});

test("a missing share is derived from the seed, and nothing is decrypted", async () => {
  await expect(sign(service.context, { ...args, userSecretKeyShareHex: undefined })).resolves.toEqual(
    expected,
  );
  expect(service.engineCalls).not.toContain("decryptShare");
});

describe("nothing is reserved", () => {
  test("if the share does not belong to the dWallet", async () => {
    for (const userSecretKeyShareHex of [vectorOf("Schnorrkel").userSecretKeyShareHex, "00", ""]) {
      await expect(sign(service.context, { ...args, userSecretKeyShareHex })).rejects.toMatchObject({
        reason: "SHARE_MISMATCH",
      });
    }
    expect(service.counts()["reserveSign"]).toBeUndefined();
  });

  test("if the parameters cannot be built", async () => {
    const load = async (): Promise<never> => {
      throw new TssError("PARAMETERS_MISMATCH", "none of the network's keys");
    };
    const context = { ...service.context, parameters: { load } };
    await expect(sign(context, args)).rejects.toMatchObject({ reason: "PARAMETERS_MISMATCH" });
    expect(service.counts()["reserveSign"]).toBeUndefined();
  });

  test("if the dWallet is not Active, or on another curve", async () => {
    service.script.dwalletState = () => ({ AwaitingKeyHolderSignature: DWALLET.output });
    await expect(sign(service.context, args)).rejects.toMatchObject({
      reason: "DWALLET_NOT_ACTIVE",
      metadata: { state: "AwaitingKeyHolderSignature" },
    });
    service.script.dwalletState = () => ({ Active: DWALLET.output });
    const other = {
      ...args,
      curve: "SECP256K1",
      signatureAlgorithm: "Taproot",
      hashScheme: "SHA256",
    } as const;
    await expect(sign(service.context, other)).rejects.toMatchObject({ reason: "UNSUPPORTED_ALGORITHM" });
    expect(service.counts()["reserveSign"]).toBeUndefined();
  });

  test("if the chain has no such dWallet, after the service's own answer", async () => {
    service.script.dwalletState = () => undefined;
    await expect(sign(service.context, args)).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });
    failFirst("getDWallet", serviceError(Code.Unauthenticated, "INVALID_KEY"));
    await expect(sign(service.context, args)).rejects.toMatchObject({ reason: "INVALID_KEY" });
    expect(service.counts()["reserveSign"]).toBeUndefined();
  });
});

describe("a call is repeated", () => {
  test("under the same key if the connection breaks, so that it cannot charge twice", async () => {
    const broken = new ConnectError("fetch failed", Code.Unavailable);
    failFirst("reserveSign", broken, broken);
    await expect(sign(service.context, args)).resolves.toEqual(expected);
    const keys = service.seen
      .filter(({ method }) => method === "reserveSign")
      .map(({ headers }) => headers.get("idempotency-key"));
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });

  test("if the service sends a retry hint", async () => {
    failFirst("reserveSign", serviceError(Code.Unavailable, "PRESIGN_POOL_EMPTY", { retryAfterMs: 5 }));
    await expect(sign(service.context, args)).resolves.toEqual(expected);
    expect(service.counts()["reserveSign"]).toBe(2);
  });

  test("with the user's half computed once, however often it is submitted", async () => {
    failFirst("submitSign", new ConnectError("reset", Code.Unavailable));
    await sign(service.context, args);
    expect(service.counts()["submitSign"]).toBe(2);
    expect(service.engineCalls.filter((call) => call === "createSignMessage")).toHaveLength(1);
  });

  test("a bounded number of times if the service does not answer", async () => {
    service.script.before = (method) => {
      if (method === "reserveSign") throw new ConnectError("refused", Code.Unavailable);
    };
    await expect(sign(service.context, args)).rejects.toMatchObject({
      reason: "UNREACHABLE",
      metadata: { idempotencyKey: expect.any(String), stage: "reserve" },
    });
    expect(service.counts()["reserveSign"]).toBe(5);
  });

  test("but not after a refusal, whose reason, metadata and request id are returned", async () => {
    failFirst(
      "reserveSign",
      serviceError(Code.FailedPrecondition, "INSUFFICIENT_CREDIT", { metadata: { priceMicroUsd: "10000" } }),
    );
    await expect(sign(service.context, args)).rejects.toMatchObject({
      name: "TssError",
      reason: "INSUFFICIENT_CREDIT",
      message: "public text",
      requestId: "request-7",
      metadata: { priceMicroUsd: "10000" },
      retryAfterMs: undefined,
    });
    expect(service.counts()["reserveSign"]).toBe(1);
  });

  test("but not if the retry hint exceeds the time, and the hint is returned", async () => {
    failFirst("reserveSign", serviceError(Code.ResourceExhausted, "RATE_LIMITED", { retryAfterMs: 61_000 }));
    await expect(sign(service.context, { ...args, timeoutMs: 60_000 })).rejects.toMatchObject({
      reason: "RATE_LIMITED",
      retryAfterMs: 61_000,
    });
  });
});

test("a public output that differs from the chain's ends the action before anything is computed", async () => {
  service.script.reservedOutput = () => flipBit(DWALLET.output, 100);
  await expect(sign(service.context, args)).rejects.toMatchObject({ reason: "OUTPUT_MISMATCH" });
  expect(service.engineCalls).not.toContain("createSignMessage");
  expect(service.counts()["submitSign"]).toBeUndefined();
});

test("a failed request ends the wait with the service's reason and whether it was refunded", async () => {
  service.script.signStatuses = [Status.queued, Status.failed];
  await expect(sign(service.context, args)).rejects.toMatchObject({
    reason: "NETWORK_REJECTED",
    message: "in words",
    metadata: { refunded: "true", signRequestId: SIGN_REQUEST_ID },
  });
});

test("a signature that does not verify is never returned", async () => {
  service.script.signature = () => flipBit(DWALLET.sign(MESSAGE), 300);
  await expect(sign(service.context, args)).rejects.toMatchObject({ reason: "SIGNATURE_INVALID" });
});

describe("after a time-out", () => {
  test("the key in the error resumes the same request without a second half or charge", async () => {
    service.script.signStatuses = [Status.queued];
    const { onProgress, restore } = hourAt("queued");
    const error = await sign(service.context, args, { onProgress }).catch((cause: unknown) => cause);
    restore();
    expect(error).toMatchObject({
      reason: "TIMEOUT",
      metadata: { signRequestId: SIGN_REQUEST_ID, idempotencyKey: expect.any(String), stage: "queued" },
    });

    service.script.reservedStatus = Status.submitted;
    service.script.signStatuses = [Status.submitted, Status.completed];
    const { idempotencyKey } = (error as { metadata: { idempotencyKey: string } }).metadata;
    await expect(sign(service.context, args, { idempotencyKey })).resolves.toEqual(expected);
    expect(service.counts()["submitSign"]).toBe(1);
    expect(service.engineCalls.filter((call) => call === "createSignMessage")).toHaveLength(1);
  });

  test("the id in the error is followed without seed or share", async () => {
    service.script.signStatuses = [Status.submitted, Status.completed];
    await expect(resumeSign(service.context, { signRequestId: SIGN_REQUEST_ID })).resolves.toEqual(expected);
    expect(service.engineCalls).toEqual([]);
  });

  test("a request whose half was never submitted cannot be followed", async () => {
    service.script.signStatuses = [Status.prepared];
    await expect(resumeSign(service.context, { signRequestId: SIGN_REQUEST_ID })).rejects.toMatchObject({
      reason: "WRONG_STATE",
    });
  });
});

test("an abort ends the wait at once, and its error has what a resume needs", async () => {
  service.script.signStatuses = [Status.queued];
  const abort = new AbortController();
  const result = sign(service.context, args, {
    signal: abort.signal,
    onProgress: (stage) => {
      if (stage === "queued") abort.abort(new Error("closed the tab"));
    },
  });
  await expect(result).rejects.toMatchObject({
    reason: "ABORTED",
    metadata: { signRequestId: SIGN_REQUEST_ID },
    cause: { message: "closed the tab" },
  });
});
