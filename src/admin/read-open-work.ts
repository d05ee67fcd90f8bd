import sql from "sql-template-tag";
import { countUnsweptCoins, type SweepTerms } from "../billing/sweeps/unswept-coins.ts";
import { number } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";

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
export interface FoundWork {
  /** The work that the service still has to finish. The network is idle when all numbers are 0. */
  readonly open: OpenWork;
  /** What may stay, because it waits for its owner or is worth too little. */
  readonly left: LeftWork;
}

/** The numbers of rows under way. */
export interface OpenWork {
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

export interface LeftWork {
  readonly unacceptedDwallets: number;
  readonly coinsLeft: number;
}
