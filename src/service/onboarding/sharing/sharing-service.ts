import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { Sharing } from "../../../../gen/proto/tss/v1/sharing_pb.ts";
import { callerOf } from "../../access/caller.ts";
import type { WaitTime } from "../../chain/operation.ts";
import { acceptShare } from "./accept-share.ts";
import { listHolders, removeHolder } from "./holders.ts";
import { shareDWallet } from "./share-dwallet.ts";
import { encodeHolder } from "./share-row.ts";
import type { SharingDeps } from "./sharing-deps.ts";

/** Implements `tss.v1.Sharing`. */
export function createSharingService(deps: SharingDeps): ServiceImpl<typeof Sharing> {
  return {
    async shareDWallet(request, context) {
      return encodeHolder(await shareDWallet(deps, callerOf(context, "project"), request, timeOf(context)));
    },
    async acceptShare(request, context) {
      return encodeHolder(await acceptShare(deps, callerOf(context, "project"), request, timeOf(context)));
    },
    async listHolders({ dwalletId }, context) {
      const rows = await listHolders(deps.database, callerOf(context, "project"), dwalletId);
      return { holders: rows.map(encodeHolder) };
    },
    async removeHolder(request, context) {
      return encodeHolder(await removeHolder(deps, callerOf(context, "project"), request));
    },
  };
}

function timeOf(context: HandlerContext): WaitTime {
  return { timeoutMs: context.timeoutMs(), signal: context.signal };
}
