import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import sql from "sql-template-tag";
import { type Admin, type NetworkWork, NetworkWorkSchema } from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { type AdminCaller, callerOf } from "../../access/caller.ts";
import { writeAuditEvent } from "../../audit/audit-event.ts";
import { countUnsweptCoins, type SweepTerms } from "../../billing/sweeps/queue-sweeps.ts";
import { drainingSince, setDraining } from "../../chain/network-drain.ts";
import type { Signals } from "../../platform/coordination/signals.ts";
import { topics } from "../../platform/coordination/topics.ts";
import { number } from "../../platform/store/columns.ts";
import { type Database, execute, type Queryable, readRows } from "../../platform/store/database.ts";

/**
 * Implements the calls of `tss.v1.Admin` that close a network to new work and reopen it. They need only the database,
 * so that an operator can close a network that no replica can open.
 */
export function createNetworkCalls({ database, signals, sweepsOf }: NetworkCallsDeps): AdminNetworkWorkCalls {
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
    // During the drain the pool was not filled.
    if (!isDraining) signals.notify(topics.presignWanted(network));
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
  readonly signals: Signals;
  /** How the coins of a served network are swept. */
  readonly sweepsOf: (network: string) => SweepTerms;
}

function encodeNetworkWork(network: string, since: Date | undefined, { open, left }: FoundWork): NetworkWork {
  return create(NetworkWorkSchema, {
    network,
    ...open,
    ...left,
    ...(since && { drainTime: timestampFromDate(since) }),
    idle: Object.values(open).every((count) => count === 0),
  });
}

/**
 * Counts the work under way on a network, and what waits there for others. Counts queued work as operations, and
 * sent work as transactions until their outcome is known. Call it in a transaction with one snapshot.
 */
export async function readOpenWork(db: Queryable, network: string, sweeps: SweepTerms): Promise<FoundWork> {
  const { toSweepCount, leftCount } = await countUnsweptCoins(db, network, sweeps);
  const [counts] = await readRows(
    db,
    sql`
SELECT
  (SELECT count(*)::int FROM sign_request WHERE network = ${network} AND status = 'prepared' AND expires_at > now())
    AS "openReservations",
  (SELECT count(*)::int FROM sign_request WHERE network = ${network} AND status = 'submitted') AS "openSignatures",
  (SELECT count(*)::int FROM dwallet WHERE network = ${network} AND state = 'AwaitingNetworkDKGVerification')
    AS "openDwallets",
  (SELECT count(*)::int FROM presign WHERE network = ${network} AND state = 'pending') AS "openPresigns",
  (SELECT count(*)::int FROM chain_operation WHERE network = ${network} AND state = 'queued') AS "openOperations",
  (SELECT count(*)::int FROM chain_transaction WHERE network = ${network} AND state = 'stored')
    AS "unresolvedTransactions",
  (SELECT count(*)::int FROM treasury_consent WHERE network = ${network} AND state = 'settling') AS "leavingDwallets",
  (SELECT count(*)::int FROM project p JOIN dwallet w ON w.project_id = p.id AND w.state = 'AwaitingKeyHolderSignature'
   WHERE p.network = ${network}) AS "unacceptedDwallets",
  (SELECT count(*)::int FROM deposit WHERE network = ${network} AND state = 'waiting') AS "waitingDeposits"`,
    {
      openReservations: number,
      openSignatures: number,
      openDwallets: number,
      openPresigns: number,
      openOperations: number,
      unresolvedTransactions: number,
      leavingDwallets: number,
      unacceptedDwallets: number,
      waitingDeposits: number,
    },
  );
  if (counts === undefined) throw new Error("a count returns no row");
  const { unacceptedDwallets, ...open } = counts;
  return {
    open: { ...open, coinsToSweep: toSweepCount },
    left: { unacceptedDwallets, coinsLeft: leftCount },
  };
}

/** The work of a network. */
interface FoundWork {
  /** The work that the service still has to finish. The network is idle when all numbers are 0. */
  readonly open: OpenWork;
  /** What may stay, because it waits for its owner or is worth too little. */
  readonly left: LeftWork;
}

/** The numbers of rows under way. */
interface OpenWork {
  readonly openReservations: number;
  readonly openSignatures: number;
  readonly openDwallets: number;
  readonly openPresigns: number;
  readonly openOperations: number;
  readonly unresolvedTransactions: number;
  readonly waitingDeposits: number;
  /** Exits that wait for the sign requests of their dWallet. */
  readonly leavingDwallets: number;
  readonly coinsToSweep: number;
}

interface LeftWork {
  readonly unacceptedDwallets: number;
  readonly coinsLeft: number;
}
