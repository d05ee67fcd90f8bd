import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import sql from "sql-template-tag";
import { type Admin, type NetworkWork, NetworkWorkSchema } from "../../gen/proto/tss/v1/admin_pb.ts";
import { type AdminCaller, callerOf } from "../access/caller.ts";
import { writeAuditEvent } from "../audit/audit-event.ts";
import type { SweepTerms } from "../billing/sweeps/unswept-coins.ts";
import { drainingSince, setDraining } from "../chain/network-drain.ts";
import type { Database } from "../store/database.ts";
import { execute } from "../store/statements.ts";
import { type FoundWork, readOpenWork } from "./read-open-work.ts";

/**
 * Implements the calls of `tss.v1.Admin` that close a network to new work and reopen it. They need only the database,
 * so that an operator can close a network that no replica can open.
 */
export function createNetworkCalls({ database, sweepsOf }: NetworkCallsDeps): AdminNetworkWorkCalls {
  return {
    async drainNetwork(_request, context) {
      return { work: await write(callerOf(context, "admin"), true) };
    },
    async resumeNetwork(_request, context) {
      return { work: await write(callerOf(context, "admin"), false) };
    },
    async getNetworkWork(_request, context) {
      return { work: await readWork(callerOf(context, "admin").network) };
    },
  };

  async function write({ network, origin }: AdminCaller, isDraining: boolean): Promise<NetworkWork> {
    await database.transaction(async (db) => {
      await setDraining(db, network, isDraining);
      const action = isDraining ? "network.drain" : "network.resume";
      await writeAuditEvent(db, origin, { action, subject: network });
    });
    return readWork(network);
  }

  function readWork(network: string): Promise<NetworkWork> {
    return database.transaction(async (db) => {
      // One snapshot, so that work that moves on between the statements is not missed by both.
      await execute(db, sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`);
      const since = await drainingSince(db, network);
      return encodeNetworkWork(network, since, await readOpenWork(db, network, sweepsOf(network)));
    });
  }
}

/** The calls of `tss.v1.Admin` about a network's work. */
export type AdminNetworkWorkCalls = Pick<
  ServiceImpl<typeof Admin>,
  "drainNetwork" | "resumeNetwork" | "getNetworkWork"
>;

/** Dependencies of {@link createNetworkCalls}. */
export interface NetworkCallsDeps {
  readonly database: Database;
  /** How the coins of a served network are swept. */
  readonly sweepsOf: (network: string) => SweepTerms;
}

function encodeNetworkWork(network: string, since: Date | undefined, { open, left }: FoundWork): NetworkWork {
  return create(NetworkWorkSchema, {
    ...{ network, ...open, ...left },
    ...(since && { drainTime: timestampFromDate(since) }),
    idle: Object.values(open).every((count) => count === 0),
  });
}
