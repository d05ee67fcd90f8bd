import sql from "sql-template-tag";
import { ServiceError } from "../platform/errors/service-error.ts";
import { nullable, time } from "../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../platform/store/database.ts";

/** Returns when the network stopped taking new work; undefined while it takes new work. */
export async function drainingSince(db: Queryable, network: string): Promise<Date | undefined> {
  const query = sql`SELECT draining_since AS "since" FROM known_network WHERE name = ${network}`;
  const [row] = await readRows(db, query, { since: nullable(time) });
  return row?.since ?? undefined;
}

/**
 * Throws NETWORK_DRAINING if the network takes no new work. Calls check it in the transaction that adds work, or just
 * before. Work that is added at the moment of the change counts as open work.
 */
export async function refuseWhileDraining(db: Queryable, network: string): Promise<void> {
  if ((await drainingSince(db, network)) !== undefined) throw networkDraining(network);
}

/** Creates the error for new work on a draining network. */
export function networkDraining(network: string): ServiceError {
  return new ServiceError("NETWORK_DRAINING", `${network} takes no new work; open work still completes`, {
    metadata: { network },
  });
}

/**
 * Starts or ends the drain of a network. Starting a drain again keeps the time of the first start. Throws
 * NETWORK_UNAVAILABLE for a network that this database was never used with: it has no work.
 */
export async function setDraining(db: Queryable, network: string, isDraining: boolean): Promise<void> {
  const since = isDraining ? sql`coalesce(draining_since, now())` : sql`NULL`;
  const count = await execute(
    db,
    sql`UPDATE known_network SET draining_since = ${since} WHERE name = ${network} RETURNING name`,
  );
  if (count > 0) return;
  throw new ServiceError("NETWORK_UNAVAILABLE", `${network} has never been open on this database`, {
    metadata: { network },
  });
}
