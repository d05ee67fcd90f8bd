import sql from "sql-template-tag";
import { ServiceError } from "../errors/service-error.ts";
import { nullable, time } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { execute, readRows } from "../store/statements.ts";

/** Returns since when the network takes no new work; undefined while it takes some. */
export async function drainingSince(db: Queryable, network: string): Promise<Date | undefined> {
  const query = sql`SELECT draining_since AS "since" FROM known_network WHERE name = ${network}`;
  const [row] = await readRows(db, query, { since: nullable(time) });
  return row?.since ?? undefined;
}

/**
 * Throws NETWORK_DRAINING if the network takes no new work. Calls that add work read this in the transaction that adds it,
 * or just before; what a call adds at the moment of the change counts as under way.
 */
export async function refuseWhileDraining(db: Queryable, network: string): Promise<void> {
  if ((await drainingSince(db, network)) !== undefined) throw networkDraining(network);
}

/** Creates the error for new work on a network that takes none. */
export function networkDraining(network: string): ServiceError {
  return new ServiceError("NETWORK_DRAINING", `${network} takes no new work; what is under way still ends`, {
    metadata: { network },
  });
}

/** Makes the network take no new work, or take some again. The time of an earlier drain stays. */
export async function setDraining(db: Queryable, network: string, isDraining: boolean): Promise<void> {
  const since = isDraining ? sql`coalesce(draining_since, now())` : sql`NULL`;
  await execute(db, sql`UPDATE known_network SET draining_since = ${since} WHERE name = ${network}`);
}
