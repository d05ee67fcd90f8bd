import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type Admin, type NetworkWork, NetworkWorkSchema } from "../../gen/proto/tss/v1/admin_pb.ts";
import { callerOf } from "../access/caller.ts";
import { writeAuditEvent } from "../audit/audit-event.ts";
import { drainingSince, setDraining } from "../chain/network-drain.ts";
import type { Database } from "../store/database.ts";
import { type OpenWork, readOpenWork } from "./read-open-work.ts";

/** Implements the calls of `tss.v1.Admin` that close a network to new work and reopen it. */
export function createNetworkCalls(database: Database): AdminNetworkWorkCalls {
  return {
    async drainNetwork(_request, context) {
      const { network, origin } = callerOf(context, "admin");
      await database.transaction(async (db) => {
        await setDraining(db, network, true);
        await writeAuditEvent(db, origin, { action: "network.drain", subject: network });
      });
      return { work: await readWork(network) };
    },
    async resumeNetwork(_request, context) {
      const { network, origin } = callerOf(context, "admin");
      await database.transaction(async (db) => {
        await setDraining(db, network, false);
        await writeAuditEvent(db, origin, { action: "network.resume", subject: network });
      });
      return { work: await readWork(network) };
    },
    async getNetworkWork(_request, context) {
      return { work: await readWork(callerOf(context, "admin").network) };
    },
  };

  async function readWork(network: string): Promise<NetworkWork> {
    const [since, open] = await Promise.all([
      drainingSince(database, network),
      readOpenWork(database, network),
    ]);
    return encodeNetworkWork(network, since, open);
  }
}

/** The calls of `tss.v1.Admin` about a network's work. */
export type AdminNetworkWorkCalls = Pick<
  ServiceImpl<typeof Admin>,
  "drainNetwork" | "resumeNetwork" | "getNetworkWork"
>;

function encodeNetworkWork(network: string, since: Date | undefined, open: OpenWork): NetworkWork {
  return create(NetworkWorkSchema, {
    ...{ network, ...open },
    ...(since && { drainTime: timestampFromDate(since) }),
    idle: Object.values(open).every((count) => count === 0),
  });
}
