import sql from "sql-template-tag";
import { number } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";

/**
 * Counts the work under way on a network. Each count uses an index that holds only such rows. Counts queued work as
 * operations, and sent work as transactions until their outcome is known.
 */
export async function readOpenWork(db: Queryable, network: string): Promise<OpenWork> {
  const [open] = await readRows(
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
  (SELECT count(*)::int FROM deposit WHERE network = ${network} AND state = 'waiting') AS "waitingDeposits"`,
    {
      openReservations: number,
      openSignatures: number,
      openDwallets: number,
      openPresigns: number,
      openOperations: number,
      unresolvedTransactions: number,
      waitingDeposits: number,
    },
  );
  if (open === undefined) throw new Error("a count returns no row");
  return open;
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
}
