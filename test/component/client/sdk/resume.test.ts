import { Code, ConnectError } from "@connectrpc/connect";
import { bytesToHex } from "@noble/hashes/utils.js";
import { beforeEach, describe, expect, test } from "vitest";
import { SignRequest_Status as Status } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { onboard } from "../../../../src/client/sdk/actions/onboard.ts";
import { resume } from "../../../../src/client/sdk/actions/resume.ts";
import { encodeResumeToken, readResumeToken } from "../../../../src/client/sdk/actions/resume-token.ts";
import { createMadeHalves } from "../../../../src/client/sdk/actions/signing/made-halves.ts";
import { sign } from "../../../../src/client/sdk/actions/signing/sign.ts";
import type { SignArgs } from "../../../../src/client/sdk/actions/signing/sign-args.ts";
import type { ClientContext } from "../../../../src/client/sdk/context.ts";
import { TssError } from "../../../../src/client/sdk/errors.ts";
import { findTriple } from "../../../../src/protocol/algorithms.ts";
import { makeDWallet } from "../../../support/crypto/made-dwallet.ts";
import {
  createFakeService,
  DWALLET,
  DWALLET_ID,
  type FakeService,
  MESSAGE,
  SEED,
  SESSION_DIGEST,
  SIGN_REQUEST_ID,
  serviceError,
  shareOf,
} from "../../../unit/client/sdk/fake-service.ts";

const curve = "ED25519";
const signArgs: SignArgs = {
  seed: SEED,
  dwalletId: DWALLET_ID,
  curve,
  signatureAlgorithm: "EdDSA",
  hashScheme: "SHA512",
  message: MESSAGE,
};
const signature = DWALLET.sign(MESSAGE);

let service: FakeService;
beforeEach(() => {
  service = createFakeService();
});

/** A client without state from another one's actions. */
function anew(): ClientContext {
  return {
    ...service.context,
    madeHalves: createMadeHalves(service.context.engine),
    activeDWallets: new Map(),
  };
}

/** Runs an action while every call from the first one of `method` on fails. Returns the token of its error. */
async function tokenOfCut(method: string, begin: () => Promise<unknown>): Promise<string> {
  const { before } = service.script;
  let isCut = false;
  service.script.before = (called) => {
    isCut ||= called === method;
    if (isCut) throw new ConnectError("the connection was cut", Code.Unavailable);
  };
  const error = await begin().catch((cause: unknown) => cause);
  service.script.before = before;
  if (!(error instanceof TssError) || error.resumeToken === undefined)
    throw new Error("no token", { cause: error });
  return error.resumeToken;
}

function withActive(): void {
  service.script.dwalletState = () => ({ Active: service.script.made.output });
}

describe("a token", () => {
  test("is given to the caller before each step, and the step waits for the caller", async () => {
    const events: string[] = [];
    service.script.before = (method) => events.push(method);
    await onboard(
      service.context,
      { seed: SEED, curve },
      {
        async onResumeToken(token) {
          // An action that did not wait for the caller would continue meanwhile.
          for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
          const point = readResumeToken(token, "localnet");
          if (point.kind !== "onboard") throw new Error("of another kind");
          const { senderAddress, dwalletId } = point;
          events.push(`token${senderAddress ? ", sender" : ""}${dwalletId ? ", dWallet" : ""}`);
        },
      },
    );
    expect(events).toEqual([
      ...["token", "getNetwork", "registerEncryptionKey", "token, sender", "createDWallet"],
      ...["token, sender, dWallet", "acceptDWallet"],
    ]);
  });

  test("holds neither seed, share nor API key", async () => {
    const tokens: string[] = [];
    const onResumeToken = (token: string) => void tokens.push(token);
    const { userSecretKeyShareHex } = await onboard(
      service.context,
      { seed: SEED, curve },
      { onResumeToken },
    );
    await sign(service.context, signArgs, { onResumeToken });
    expect(tokens).toHaveLength(5);
    for (const token of tokens) {
      const octets = JSON.stringify(readResumeToken(token, "localnet"), (_, value: unknown) =>
        value instanceof Uint8Array ? bytesToHex(value) : value,
      );
      for (const secret of [bytesToHex(SEED), userSecretKeyShareHex, "tss_local_test"])
        expect(octets).not.toContain(secret);
    }
  });

  test("is not in an error that ends the action", async () => {
    service.script.before = (method) => {
      if (method === "registerEncryptionKey")
        throw serviceError(Code.FailedPrecondition, "INSUFFICIENT_CREDIT");
    };
    const refused = onboard(service.context, { seed: SEED, curve });
    await expect(refused).rejects.toMatchObject({ reason: "INSUFFICIENT_CREDIT", resumeToken: undefined });
  });

  test("is in an error with a retry hint", async () => {
    service.script.before = () => {
      throw serviceError(Code.ResourceExhausted, "RATE_LIMITED", { retryAfterMs: 900_000 });
    };
    const refused = onboard(service.context, { seed: SEED, curve });
    await expect(refused).rejects.toMatchObject({ resumeToken: expect.stringMatching(/^resume_/) });
  });
});

describe("an onboarding that is resumed", () => {
  test("uses the same session, whatever else starts again", async () => {
    const token = await tokenOfCut("createDWallet", () => onboard(service.context, { seed: SEED, curve }));
    await resume(anew(), token, { seed: SEED });
    const sessions = service.seen
      .filter(({ method }) => method === "createDWallet")
      .map(({ request }) => bytesToHex((request as { sessionIdentifier: Uint8Array }).sessionIdentifier));
    expect(sessions.length).toBeGreaterThan(1);
    expect(new Set(sessions).size).toBe(1);
  });

  test("continues with the dWallet that the session has from an earlier request", async () => {
    const token = await tokenOfCut("createDWallet", () => onboard(service.context, { seed: SEED, curve }));
    let answerCount = 0;
    service.script.before = (method) => {
      if (method !== "createDWallet") return;
      const metadata: Record<string, string> =
        answerCount++ === 0 ? { state: "Submitting" } : { state: "Active", dwalletId: DWALLET_ID };
      throw serviceError(Code.AlreadyExists, "SESSION_REUSED", { metadata });
    };
    const result = await resume(anew(), token, { seed: SEED });
    expect(answerCount).toBe(2);
    expect(result).toMatchObject({ kind: "onboard", dwallet: { id: DWALLET_ID, curve } });
  });

  test("refuses a dWallet of a foreign share, and one of another session of the same seed", async () => {
    const token = await tokenOfCut("createDWallet", () => onboard(service.context, { seed: SEED, curve }));
    service.script.before = (method) => {
      const metadata = { state: "Active", dwalletId: DWALLET_ID };
      if (method === "createDWallet") throw serviceError(Code.AlreadyExists, "SESSION_REUSED", { metadata });
    };
    const others = [shareOf(new Uint8Array(32).fill(66), SESSION_DIGEST), shareOf(SEED, SESSION_DIGEST)];
    for (const share of others) {
      service.script.dwalletState = () => ({ AwaitingKeyHolderSignature: makeDWallet(share).output });
      const refused = resume(anew(), token, { seed: SEED });
      await expect(refused).rejects.toMatchObject({ reason: "SHARE_UNVERIFIED" });
    }
    expect(service.counts()["acceptDWallet"]).toBeUndefined();
  });

  test("with a forged token uses only the seed's share", async () => {
    const made = makeDWallet(shareOf(new Uint8Array(32).fill(66), SESSION_DIGEST));
    service.script.dwalletState = () => ({ AwaitingKeyHolderSignature: made.output });
    const token = encodeResumeToken({ kind: "onboard", network: "localnet", curve, dwalletId: DWALLET_ID });
    const refused = resume(anew(), token, { seed: SEED });
    await expect(refused).rejects.toMatchObject({ reason: "SHARE_UNVERIFIED" });
    expect(service.counts()["acceptDWallet"]).toBeUndefined();
  });

  test("without the seed asks for it before any call", async () => {
    const token = encodeResumeToken({ kind: "onboard", network: "localnet", curve, dwalletId: DWALLET_ID });
    await expect(resume(anew(), token)).rejects.toMatchObject({
      reason: "VALIDATION",
      message: "seed: is required for an onboarding or an import",
      metadata: { field: "seed" },
    });
    expect(service.seen).toEqual([]);
  });
});

describe("a signature that is resumed", () => {
  beforeEach(withActive);

  test("before its half was submitted continues under the same idempotency key, or asks for its arguments", async () => {
    const token = await tokenOfCut("submitSign", () => sign(service.context, signArgs));
    service.script.signStatuses = [Status.prepared];
    for (const [args, field] of [
      [{}, "seed"],
      [{ seed: SEED }, "message"],
    ] as const)
      await expect(resume(anew(), token, args)).rejects.toMatchObject({
        reason: "VALIDATION",
        metadata: { field },
      });
    service.script.signStatuses = [Status.prepared, Status.queued, Status.completed];
    const result = await resume(anew(), token, { seed: SEED, message: MESSAGE });
    expect(result).toMatchObject({ kind: "sign", dwalletId: DWALLET_ID, message: MESSAGE, signature });
    const keys = service.seen
      .filter(({ method }) => method === "reserveSign")
      .map(({ headers }) => headers.get("idempotency-key"));
    expect(keys).toEqual([keys[0], keys[0]]);
  });

  test("after it was submitted needs only the token, and reserves nothing", async () => {
    service.script.signStatuses = [Status.submitted];
    const token = await tokenOfCut("watchSign", () => sign(service.context, signArgs));
    service.seen.length = 0;
    service.script.signStatuses = [Status.submitted, Status.completed];
    const result = await resume(anew(), token);
    expect(result).toMatchObject({ kind: "sign", dwalletId: DWALLET_ID, message: MESSAGE, signature });
    expect(service.counts()["reserveSign"]).toBeUndefined();
  });

  test.each([
    ["INVALID_KEY", Code.Unauthenticated],
    ["PROOF_INVALID", Code.Unauthenticated],
    ["SCOPE_MISSING", Code.PermissionDenied],
  ] as const)("after its caller was refused with %s is charged no second time", async (reason, code) => {
    service.script.signStatuses = [Status.submitted];
    service.script.before = (method) => {
      if (method === "watchSign" || method === "getSign") throw serviceError(code, reason);
    };
    const refused: unknown = await sign(service.context, signArgs).catch((error: unknown) => error);
    expect(refused).toMatchObject({ reason, resumeToken: expect.stringMatching(/^resume_/) });
    service.script.before = () => {};
    service.script.signStatuses = [Status.submitted, Status.completed];
    const result = await resume(anew(), (refused as TssError).resumeToken!);
    expect(result).toMatchObject({ kind: "sign", signature });
    expect(service.counts()).toMatchObject({ reserveSign: 1, submitSign: 1 });
  });

  test("is for the token's own message and dWallet, whatever the service replies", async () => {
    const triple = findTriple(curve, "EdDSA", "SHA512")!;
    const point = { kind: "sign", network: "localnet", dwalletId: DWALLET_ID, triple } as const;
    const signRequestId = SIGN_REQUEST_ID;
    const messageDigest = new Uint8Array(32);
    const ofOther = encodeResumeToken({ ...point, messageDigest, signRequestId });
    service.script.signStatuses = [Status.completed];
    await expect(resume(anew(), ofOther)).rejects.toMatchObject({ reason: "SIGNATURE_INVALID" });
  });

  test("with another dWallet or algorithm than the token's is refused before any call", async () => {
    const token = await tokenOfCut("reserveSign", () => sign(service.context, signArgs));
    service.seen.length = 0;
    const others = {
      dwalletId: `0x${"9".repeat(64)}`,
      curve: "RISTRETTO",
      signatureAlgorithm: "Schnorrkel",
      hashScheme: "Merlin",
    } as const;
    for (const [field, other] of Object.entries(others))
      await expect(resume(anew(), token, { ...signArgs, [field]: other })).rejects.toMatchObject({
        reason: "VALIDATION",
        metadata: { field },
      });
    expect(service.seen).toEqual([]);
    await expect(resume(anew(), token, signArgs)).resolves.toMatchObject({ kind: "sign", signature });
  });

  test("with another message than the token's is refused before any call", async () => {
    const token = await tokenOfCut("reserveSign", () => sign(service.context, signArgs));
    service.seen.length = 0;
    const message = new TextEncoder().encode("another message");
    await expect(resume(anew(), token, { seed: SEED, message })).rejects.toMatchObject({
      reason: "VALIDATION",
      metadata: { field: "message" },
    });
    expect(service.seen).toEqual([]);
  });
});
