import { createHash, randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  SignManyResponse_ResultSchema,
  SignRequest,
  SignResponseSchema,
} from "../../gen/proto/tss/signer/v1/signer_pb.ts";
import { type TssClient, TssError } from "../client/sdk/index.ts";
import type { Log } from "../service/platform/telemetry/logger.ts";
import type { Redact } from "../service/platform/telemetry/redact.ts";
import type { Keys } from "./keys.ts";
import { type Payload, readPayload } from "./payload.ts";
import { fromTssError, SignerError, wrongField } from "./signer-error.ts";

/** Signs with the keys of a signer. */
export interface Signing {
  /**
   * Signs once. Throws SignerError KEY_NOT_FOUND, KEY_NOT_ACTIVE, SIGNER_BUSY, VALIDATION, UNSUPPORTED_ALGORITHM or
   * EVM_UNAVAILABLE, and any TssError of a signature.
   */
  sign(request: SignRequest, call: SigningCall): Promise<MessageInitShape<typeof SignResponseSchema>>;
  /** Signs several times. A failed item becomes its own result. Throws SignerError SIGNER_BUSY or VALIDATION. */
  signMany(
    requests: readonly SignRequest[],
    call: SigningCall,
  ): Promise<MessageInitShape<typeof SignManyResponse_ResultSchema>[]>;
}

/** The call that a signature is for. */
export interface SigningCall {
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** The time to the call's deadline; undefined without one. */
  readonly timeoutMs: number | undefined;
}

/** Creates the part that signs. */
export function createSigning({
  keys,
  client,
  log,
  redact,
  count,
  maxCount = MAX_SIGNS,
}: SigningOptions): Signing {
  let runningCount = 0;

  /** Runs work that takes some of the bounded number of places. */
  async function inPlaces<T>(places: number, work: () => Promise<T>): Promise<T> {
    if (runningCount + places > maxCount)
      throw new SignerError("SIGNER_BUSY", `the signer makes ${maxCount} signatures at a time`, {
        retryAfterSeconds: 1,
      });
    runningCount += places;
    try {
      return await work();
    } finally {
      runningCount -= places;
    }
  }

  async function signOne(request: SignRequest, call: SigningCall) {
    const key = keys.getActive(request.name);
    const payload = await readPayload(request.payload, key);
    const { triple, message } = payload;
    const idempotencyKey = request.idempotencyKey || randomUUID();
    const { dwallet } = key.progress;
    const audited = auditFields(request, payload, call, idempotencyKey);
    log.info({ ...audited, outcome: "requested" }, "a signature is requested");
    const args = {
      seed: key.seed,
      dwalletId: dwallet.dwalletId,
      sessionDigestHex: dwallet.sessionDigestHex,
      curve: triple.curve,
      signatureAlgorithm: triple.signatureAlgorithm,
      hashScheme: triple.hash,
      message,
      timeoutMs: Math.max(1, (call.timeoutMs ?? DEFAULT_TIMEOUT_MS) - REPLY_MS),
    };
    try {
      const { signature, signRequestId } = await client.sign(args, { idempotencyKey, signal: call.signal });
      const finished = payload.finish(signature);
      log.info({ ...audited, signRequestId, outcome: "signed" }, "a signature is made");
      count("signed");
      return { ...finished, signRequestId };
    } catch (error) {
      const { reason } = failureOf(error, redact);
      log.info({ ...audited, outcome: reason }, "no signature is made");
      if (reason === "INTERNAL") log.error({ requestId: call.requestId, cause: error }, "a signature failed");
      count("failed");
      throw error;
    }
  }

  return {
    sign: (request, call) => inPlaces(1, () => signOne(request, call)),
    signMany(requests, call) {
      checkDistinct(requests);
      const places = Math.min(requests.length, CONCURRENCY);
      return inPlaces(places, async () => {
        const results: MessageInitShape<typeof SignManyResponse_ResultSchema>[] = [];
        const waiting = requests.entries();
        const work = async () => {
          for (const [index, request] of waiting) {
            results[index] = await signOne(request, call).then(
              (value) => ({ result: { case: "signed" as const, value } }),
              (error: unknown) => ({ result: { case: "failure" as const, value: failureOf(error, redact) } }),
            );
          }
        };
        await Promise.all(Array.from({ length: places }, work));
        return results;
      });
    },
  };
}

/** Options of {@link createSigning}. */
interface SigningOptions {
  readonly keys: Pick<Keys, "getActive">;
  readonly client: Pick<TssClient, "sign">;
  readonly log: Log;
  /** Removes the signer's own secrets from texts of others. */
  readonly redact: Redact;
  /** Counts an ended signature. */
  readonly count: (outcome: "signed" | "failed") => void;
  /** The maximum number of signatures at a time. Default 64. */
  readonly maxCount?: number | undefined;
}

const MAX_SIGNS = 64;
/** How many signatures of one SignMany run at a time. */
const CONCURRENCY = 8;
const DEFAULT_TIMEOUT_MS = 180_000;
/** The time before the deadline that is kept for a reply, which has the idempotency key for a repeat. */
const REPLY_MS = 250;

/** The fields of the audit lines. The payload is in them as SHA-256 of the message that the network signs. */
function auditFields(
  request: SignRequest,
  payload: Payload,
  { requestId }: SigningCall,
  idempotencyKey: string,
) {
  const { triple, message } = payload;
  return {
    audit: "sign",
    keyName: request.name,
    kind: request.payload.case,
    signatureAlgorithm: triple.signatureAlgorithm,
    hashScheme: triple.hash,
    messageSha256: createHash("sha256").update(message).digest("hex"),
    idempotencyKey,
    requestId,
  };
}

/** Two requests with one idempotency key would be one signature, which the caller surely does not mean. */
function checkDistinct(requests: readonly SignRequest[]): void {
  const seen = new Set<string>();
  for (const [index, { idempotencyKey }] of requests.entries()) {
    if (idempotencyKey !== "" && seen.has(idempotencyKey))
      throw wrongField(`requests[${index}].idempotency_key`, "an earlier request has the same one");
    seen.add(idempotencyKey);
  }
}

function failureOf(error: unknown, redact: Redact) {
  const failure = error instanceof TssError ? fromTssError(error, redact) : error;
  if (!(failure instanceof SignerError))
    return { reason: "INTERNAL", message: "internal error", metadata: {} };
  const { reason, message, metadata } = failure;
  return { reason, message, metadata: { ...metadata } };
}
