import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  SignManyResponse_ResultSchema,
  SignRequest,
  SignResponseSchema,
} from "../../gen/proto/tss/signer/v1/signer_pb.ts";
import type { TssClient } from "../client/sdk/index.ts";
import type { Log } from "../service/platform/telemetry/logger.ts";
import type { Redact } from "../service/platform/telemetry/redact.ts";
import { EVERYONE } from "./access/caller.ts";
import { createFairPlaces } from "./access/fair-places.ts";
import type { Keys } from "./keys.ts";
import { readPayload } from "./payloads/payload.ts";
import {
  CONCURRENCY,
  createRequestSigner,
  failureOf,
  type InPlaces,
  type SigningCall,
} from "./request-signer.ts";
import { wrongField } from "./signer-error.ts";

/** Signs with the keys of a signer. */
export interface Signing {
  /**
   * Signs once. Throws SignerError CALLER_NOT_ALLOWED, CALLER_RATE_EXCEEDED, KEY_NOT_FOUND, KEY_NOT_ACTIVE, SIGNER_BUSY,
   * VALIDATION, UNSUPPORTED_ALGORITHM or that a package is unavailable, and any TssError of a signature.
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
  callerNames = () => [EVERYONE.name],
  maxCount = MAX_SIGNS,
  nowMs = () => performance.now(),
}: SigningOptions): Signing {
  const places = createFairPlaces(maxCount, callerNames, "signatures");

  async function signOne(request: SignRequest, call: SigningCall) {
    const { caller } = call;
    caller.checkKey(request.name);
    const key = keys.getActive(request.name);
    caller.checkPayload(request.name, request.payload.case, key.curve);
    const payload = await readPayload(request.payload, key);
    const inPlaces: InPlaces = (wanted, work) => places.useFurther(caller.name, wanted, work);
    const signer = createRequestSigner(key, request, call, { client, log, redact, count, inPlaces, nowMs });
    const finished = await payload.sign(signer);
    const [signRequestId = ""] = signer.signRequestIds;
    const psbtSignRequestIds = request.payload.case === "bitcoinPsbt" ? signer.signRequestIds : [];
    return { ...finished, signRequestId, psbtSignRequestIds };
  }

  return {
    sign: (request, call) => places.use(call.caller.name, 1, () => signOne(request, call)),
    signMany(requests, call) {
      checkDistinct(requests);
      return places.use(call.caller.name, Math.min(requests.length, CONCURRENCY), async (count) => {
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
        await Promise.all(Array.from({ length: count }, work));
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
  /** The names of all callers, which share the places. Default: the one of a signer without a file of callers. */
  readonly callerNames?: (() => readonly string[]) | undefined;
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
