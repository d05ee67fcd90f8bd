import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  SignManyResponse_ResultSchema,
  SignRequest,
  SignResponseSchema,
} from "../../gen/proto/tss/signer/v1/signer_pb.ts";
import type { TssClient } from "../client/sdk/index.ts";
import type { Log } from "../service/platform/telemetry/logger.ts";
import type { Redact } from "../service/platform/telemetry/redact.ts";
import type { Keys } from "./keys.ts";
import { readPayload } from "./payload.ts";
import { CONCURRENCY, createRequestSigner, failureOf, type SigningCall } from "./request-signer.ts";
import { SignerError, wrongField } from "./signer-error.ts";

/** Signs with the keys of a signer. */
export interface Signing {
  /**
   * Signs once. Throws SignerError KEY_NOT_FOUND, KEY_NOT_ACTIVE, SIGNER_BUSY, VALIDATION, UNSUPPORTED_ALGORITHM or that
   * a package is unavailable, and any TssError of a signature.
   */
  sign(request: SignRequest, call: SigningCall): Promise<MessageInitShape<typeof SignResponseSchema>>;
  /** Signs several times. A failed item becomes its own result. Throws SignerError SIGNER_BUSY or VALIDATION. */
  signMany(
    requests: readonly SignRequest[],
    call: SigningCall,
  ): Promise<MessageInitShape<typeof SignManyResponse_ResultSchema>[]>;
}

/** Creates the part that signs. */
export function createSigning({
  keys,
  client,
  log,
  redact,
  count,
  maxCount = MAX_SIGNS,
  nowMs = () => performance.now(),
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
    const signer = createRequestSigner(key, request, call, { client, log, redact, count, inPlaces, nowMs });
    const finished = await payload.sign(signer);
    const [signRequestId = ""] = signer.signRequestIds;
    const psbtSignRequestIds = request.payload.case === "bitcoinPsbt" ? signer.signRequestIds : [];
    return { ...finished, signRequestId, psbtSignRequestIds };
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
  /** A clock that never goes back, in milliseconds. Default: that of the system. */
  readonly nowMs?: () => number;
}

const MAX_SIGNS = 64;

/** Two requests with one idempotency key would be one signature, which the caller surely does not mean. */
function checkDistinct(requests: readonly SignRequest[]): void {
  const seen = new Set<string>();
  for (const [index, { idempotencyKey }] of requests.entries()) {
    if (idempotencyKey !== "" && seen.has(idempotencyKey))
      throw wrongField(`requests[${index}].idempotency_key`, "an earlier request has the same one");
    seen.add(idempotencyKey);
  }
}
