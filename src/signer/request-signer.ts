import { createHash, randomUUID } from "node:crypto";
import type { SignRequest } from "../../gen/proto/tss/signer/v1/signer_pb.ts";
import {
  type SignArgs,
  type SignManyItem,
  type SignResult,
  type SignStage,
  type TssClient,
  TssError,
} from "../client/sdk/index.ts";
import type { Log } from "../service/platform/telemetry/logger.ts";
import type { Redact } from "../service/platform/telemetry/redact.ts";
import type { Caller } from "./access/caller.ts";
import type { ActiveKey } from "./keys.ts";
import type { PayloadSigner } from "./payloads/payload.ts";
import { fromTssError, SignerError } from "./signer-error.ts";

/**
 * Creates the signer of one request. It is the client that the signers of other libraries get: each signature has two
 * lines in the audit log, the time that the call has left, and an idempotency key.
 */
export function createRequestSigner(
  key: ActiveKey,
  request: SignRequest,
  call: SigningCall,
  { client, log, redact, count, inPlaces, nowMs }: RequestSignerOptions,
): RequestSigner {
  const endMs = nowMs() + (call.timeoutMs() ?? DEFAULT_TIMEOUT_MS) - REPLY_MS;
  const { dwalletId, sessionDigestHex, publicKeyHex } = key.progress.dwallet;
  const given = request.idempotencyKey || randomUUID();
  const idempotencyKey = keyOfCaller(call.caller, given);
  const ids: string[] = [];

  async function signOne(args: SignArgs, ownKey: string, index: number): Promise<SignResult> {
    call.caller.countSignature();
    const audited = auditFields(request, args, call, ownKey === idempotencyKey ? given : ownKey);
    log.info({ ...audited, outcome: "requested" }, "a signature is requested");
    try {
      const timeoutMs = Math.max(1, endMs - nowMs());
      const onProgress = (stage: SignStage | "done", elapsedMs: number) =>
        stage === "done" ? undefined : call.onStage?.({ name: stage, elapsedMs, index });
      const options = { idempotencyKey: ownKey, signal: call.signal, onProgress };
      const made = await client.sign({ ...args, timeoutMs }, options);
      log.info({ ...audited, signRequestId: made.signRequestId, outcome: "signed" }, "a signature is made");
      count("signed");
      ids[index] = made.signRequestId;
      return made;
    } catch (error) {
      const { reason } = failureOf(error, redact);
      log.info({ ...audited, outcome: reason }, "no signature is made");
      if (reason === "INTERNAL") log.error({ requestId: call.requestId, cause: error }, "a signature failed");
      count("failed");
      throw withKeyOfCall(error, given);
    }
  }

  async function signMany(items: readonly SignManyItem[]): Promise<PromiseSettledResult<SignResult>[]> {
    // The request has a place already.
    const more = Math.min(items.length, CONCURRENCY) - 1;
    const results: PromiseSettledResult<SignResult>[] = [];
    const waiting = items.entries();
    const work = async () => {
      for (const [index, { idempotencyKey: ownKey = idempotencyKey, ...args }] of waiting)
        results[index] = await signOne(args, ownKey, index).then(
          (value) => ({ status: "fulfilled" as const, value }),
          (reason: unknown) => ({ status: "rejected" as const, reason }),
        );
    };
    await inPlaces(more, (places) => Promise.all(Array.from({ length: 1 + places }, work)));
    return results;
  }

  return {
    key: { seed: key.seed, dwalletId, sessionDigestHex, publicKeyHex },
    idempotencyKey,
    signRequestIds: ids,
    // The key file has the public key that the client has proven with the seed.
    readKey: async () => ({ publicKeyHex }),
    sign: (args) => signOne(args, idempotencyKey, 0),
    signMany,
  };
}

/** Signs for one request. */
export interface RequestSigner extends PayloadSigner {
  /** The service's sign requests of the signatures that are made so far, by their positions. */
  readonly signRequestIds: string[];
}

/** The call that a signature is for. */
export interface SigningCall {
  readonly caller: Caller;
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** Returns the time that is left to the call's deadline; undefined without one. */
  timeoutMs(): number | undefined;
  /** Called when a stage begins. */
  readonly onStage?: ((stage: SigningStage) => void) | undefined;
}

/** A stage that begins. */
export interface SigningStage {
  readonly name: string;
  readonly elapsedMs: number;
  /** The position of the signature among those of the request. */
  readonly index: number;
}

/** Options of {@link createRequestSigner}. */
interface RequestSignerOptions {
  readonly client: Pick<TssClient, "sign">;
  readonly log: Log;
  readonly redact: Redact;
  readonly count: (outcome: "signed" | "failed") => void;
  readonly inPlaces: InPlaces;
  /** A clock that never goes back, in milliseconds. */
  readonly nowMs: () => number;
}

/** Runs work in up to so many further places of the signer: in none if none is free. */
export type InPlaces = <T>(wanted: number, work: (places: number) => Promise<T>) => Promise<T>;

/** How many signatures of one request, or of one SignMany, run at a time. */
export const CONCURRENCY = 8;
/** The time for all signatures of a request without a deadline. */
const DEFAULT_TIMEOUT_MS = 180_000;
/** The time before the deadline that is kept for a reply, which has the idempotency key for a repeat. */
const REPLY_MS = 250;

/** The fields of the audit lines. The payload is in them as SHA-256 of the message that the network signs. */
function auditFields(
  request: SignRequest,
  { signatureAlgorithm, hashScheme, message }: SignArgs,
  { caller, requestId }: SigningCall,
  idempotencyKey: string,
) {
  return {
    audit: "sign",
    ...(caller.name !== "" && { caller: caller.name }),
    keyName: request.name,
    kind: request.payload.case,
    signatureAlgorithm,
    hashScheme,
    messageSha256: createHash("sha256").update(message).digest("hex"),
    idempotencyKey,
    requestId,
  };
}

/** No caller can use up the idempotency keys of another one. */
function keyOfCaller({ name }: Caller, idempotencyKey: string): string {
  if (name === "") return idempotencyKey;
  const own = `${name}/${idempotencyKey}`;
  if (own.length <= MAX_KEY_CHARACTERS) return own;
  return `${name}/sha256:${createHash("sha256").update(idempotencyKey).digest("hex")}`;
}

/** The service allows 255, and an input of a PSBT adds `/` and its index. */
const MAX_KEY_CHARACTERS = 250;

/** Puts the key that the caller knows into the error of the SDK, so that it can repeat the call with it. */
function withKeyOfCall(error: unknown, given: string): unknown {
  if (!(error instanceof TssError) || error.metadata["idempotencyKey"] === undefined) return error;
  const { reason, message, requestId, metadata, retryAfterMs, resumeToken } = error;
  return new TssError(reason, message, {
    requestId,
    metadata: { ...metadata, idempotencyKey: given },
    retryAfterMs,
    resumeToken,
    cause: error,
  });
}

/** Describes a failure without secrets. An unexpected one is INTERNAL, and shows nothing of its cause. */
export function failureOf(error: unknown, redact: Redact) {
  const failure = error instanceof TssError ? fromTssError(error, redact) : error;
  if (!(failure instanceof SignerError))
    return { reason: "INTERNAL", message: "internal error", metadata: {} };
  const { reason, message, metadata } = failure;
  return { reason, message, metadata: { ...metadata } };
}
