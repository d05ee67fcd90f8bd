/**
 * A server with endless watches in its own process, so that its memory is only that of the watches. It has the
 * service's interceptors and its watch, over a database in which every request exists and none changes.
 */
import { Signing } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { createStreamLeases } from "../../../src/service/access/stream-leases.ts";
import { createLocalSignals } from "../../../src/service/platform/coordination/local-coordination.ts";
import { createErrorInterceptor } from "../../../src/service/platform/errors/error-interceptor.ts";
import { createErrorMapping } from "../../../src/service/platform/errors/error-mapping.ts";
import { createWarmValidateInterceptor } from "../../../src/service/platform/errors/validate-interceptor.ts";
import { systemClock } from "../../../src/service/platform/lifecycle/clock.ts";
import type { Queryable } from "../../../src/service/platform/store/database.ts";
import { createBatchedLooks } from "../../../src/service/signing/batched-looks.ts";
import { encodeWatched } from "../../../src/service/signing/encode-sign-request.ts";
import type { StagedSignRequest } from "../../../src/service/signing/shown-sign-request.ts";
import { watchSignRequest } from "../../../src/service/signing/watch-sign-request.ts";
import { untilClosing } from "../../../src/transport/calls/closing-signal.ts";
import { registerService } from "../../../src/transport/calls/service-registration.ts";
import { startServer } from "../../../src/transport/start-server.ts";

const UNBOUNDED = Number.MAX_SAFE_INTEGER;

const database = {
  // A read has the ids alone; a look also has what was seen of each, and finds no change.
  query: async (_text: string, [ids, seen]: readonly unknown[]) =>
    seen === undefined ? (ids as readonly string[]).map(rowOf) : [],
} as unknown as Queryable;
const clock = systemClock;
const deps = { database, clock, looks: createBatchedLooks(database, clock), signals: createLocalSignals() };
const errors = createErrorMapping(() => {});
const bounds = { perKey: UNBOUNDED, perProject: UNBOUNDED, perAddress: UNBOUNDED };
const { url } = await startServer({
  host: "127.0.0.1",
  port: 0,
  errors,
  services: [
    registerService(Signing, {
      watchSign: ({ signRequestId, cursor }, context) =>
        watchSignRequest(
          deps,
          { signRequestId, caller: { projectId: "" }, cursor },
          untilClosing(context),
          (message) => encodeWatched(message, new Date()),
        ),
    }),
  ],
  interceptors: [
    createErrorInterceptor(errors),
    createWarmValidateInterceptor([Signing]),
    createStreamLeases({ bounds }).interceptor,
  ],
  limits: { connectionsPerAddressCount: UNBOUNDED },
});
process.send?.({ url });

/** Created for each read, as a database would. */
function rowOf(id: string): StagedSignRequest & { readonly projectId: string } {
  const at = new Date(0);
  return {
    id,
    status: "prepared",
    curve: 0,
    signatureAlgorithm: 0,
    hashScheme: 0,
    message: new Uint8Array(32),
    priceMicroUsd: 10n,
    txDigest: null,
    signSessionId: null,
    signature: null,
    failureReason: null,
    failureMessage: null,
    refunded: false,
    expiresAt: at,
    createdAt: at,
    updatedAt: at,
    dwalletId: "0x1",
    presignId: "0x2",
    userReference: null,
    activeHolders: [],
    holdSeconds: null,
    holdState: null,
    holdPriceMicroUsd: 0n,
    holdExpiresAt: null,
    holdTxDigest: null,
    submittedAt: null,
    sentAt: null,
    landedAt: null,
    projectId: "",
  };
}
