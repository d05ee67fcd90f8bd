import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { HttpBodySchema } from "../../../gen/proto/google/api/httpbody_pb.ts";
import type { Onboarding } from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import { callerOf } from "../access/caller.ts";
import type { WaitTime } from "../chain/operation.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import { acceptDWallet } from "./accept-dwallet.ts";
import { adoptDWallet } from "./adopt-dwallet.ts";
import type { ParameterBuilder } from "./build-parameters.ts";
import { createDWallet } from "./create-dwallet.ts";
import { useConsent } from "./custody/consents.ts";
import { encodeDWallet, findDWallet, listDWallets, readDWallet } from "./dwallet-row.ts";
import { encodeRegisteredKey, listEncryptionKeys, registerEncryptionKey } from "./encryption-keys.ts";
import { encodeExitDrill, storeExitDrill } from "./exit-drill.ts";
import { describeNetwork } from "./get-network.ts";
import type { OnboardingDeps } from "./onboarding-deps.ts";
import type { ParameterStore } from "./parameter-store.ts";

/** Implements `tss.v1.Onboarding`. */
export function createOnboardingService(deps: OnboardingServiceDeps): ServiceImpl<typeof Onboarding> {
  return {
    async getNetwork(_request, context) {
      context.responseHeader.set("cache-control", "no-cache");
      context.responseHeader.set("vary", "x-network");
      return describeNetwork(deps);
    },
    async *getProtocolParameters({ sha256, offset }, context) {
      const size = await deps.parameterStore.size(sha256);
      if (size === undefined) {
        throw new ServiceError(
          "PARAMETERS_NOT_FOUND",
          "the service has no protocol parameters with this digest",
          {
            metadata: { sha256 },
          },
        );
      }
      const from = Number(offset < BigInt(size) ? offset : BigInt(size));
      context.responseHeader.set("etag", from === 0 ? `"${sha256}"` : `"${sha256}-${from}"`);
      context.responseHeader.set("cache-control", "public, max-age=31536000, immutable");
      context.responseHeader.set("content-length", String(size - from));
      let contentType = CONTENT_TYPE;
      for await (const data of deps.parameterStore.read(sha256, from, CHUNK_BYTES)) {
        yield create(HttpBodySchema, { contentType, data: new Uint8Array(data) });
        contentType = "";
      }
    },
    async registerEncryptionKey(request, context) {
      const row = await registerEncryptionKey(deps, callerOf(context, "project"), request, timeOf(context));
      return encodeRegisteredKey(row);
    },
    async listEncryptionKeys(request, context) {
      const caller = callerOf(context, "project");
      const { rows, nextPageToken } = await listEncryptionKeys(deps.database, caller, request);
      return { encryptionKeys: rows.map(encodeRegisteredKey), nextPageToken };
    },
    async createDWallet(request, context) {
      return encodeDWallet(await createDWallet(deps, callerOf(context, "project"), request, timeOf(context)));
    },
    async acceptDWallet(request, context) {
      return encodeDWallet(await acceptDWallet(deps, callerOf(context, "project"), request, timeOf(context)));
    },
    async adoptDWallet(request, context) {
      return encodeDWallet(await adoptDWallet(deps, callerOf(context, "project"), request));
    },
    async leaveDWallet(request, context) {
      const caller = callerOf(context, "project");
      const used = await useConsent(deps, caller, { action: "leave", ...request }, timeOf(context));
      return {
        dwalletId: request.dwalletId,
        dwalletCapId: used.dwallet.capId ?? "",
        recipient: request.recipient,
        txDigest: used.txDigest ?? "",
      };
    },
    async refuseRelease(request, context) {
      const caller = callerOf(context, "project");
      const { txDigest } = await useConsent(deps, caller, { action: "refuse", ...request }, timeOf(context));
      return { dwalletId: request.dwalletId, ...(txDigest !== undefined && { txDigest }) };
    },
    async reportExitDrill(request, context) {
      const caller = callerOf(context, "project");
      await storeExitDrill(deps.database, caller, request);
      const exitDrill = encodeExitDrill(await findDWallet(deps.database, caller, request.dwalletId));
      return exitDrill === undefined ? {} : { exitDrill };
    },
    async getDWallet({ dwalletId }, context) {
      return encodeDWallet(await readDWallet(deps, callerOf(context, "project"), dwalletId));
    },
    async listDWallets(request, context) {
      const caller = callerOf(context, "project");
      const { rows, nextPageToken } = await listDWallets(deps.database, caller, request);
      return { dwallets: rows.map(encodeDWallet), nextPageToken };
    },
  };
}

/** Dependencies of {@link createOnboardingService}. */
export interface OnboardingServiceDeps extends OnboardingDeps {
  readonly parameters: ParameterBuilder;
  readonly parameterStore: ParameterStore;
}

const CHUNK_BYTES = 256 * 1024;
const CONTENT_TYPE = "application/octet-stream";

function timeOf(context: HandlerContext): WaitTime {
  return { timeoutMs: context.timeoutMs(), signal: context.signal };
}
