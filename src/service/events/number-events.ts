import sql from "sql-template-tag";
import { boolean } from "../platform/store/columns.ts";
import { execute, type Queryable, readRows, type Transactor } from "../platform/store/database.ts";

/**
 * Numbers up to {@link NUMBERED_MAX_COUNT} committed events of a project, in the order in which they were written. Returns
 * whether it may have left some.
 *
 * Transactions commit in another order than they write, so an event cannot get its place when it is written: a reader
 * would pass by the place of a slower transaction. It gets its place here, from the head of the project, whose lock lasts
 * until the numbers are committed. Whoever sees a number therefore sees all smaller ones. What was committed before
 * something else was written has the smaller number.
 */
export function numberEvents(database: Transactor, projectId: string): Promise<boolean> {
  return database.transaction(async (db) => {
    await lockHead(db, projectId);
    // The statement begins under the lock, so that it sees what its predecessors have numbered.
    const numberedCount = await execute(
      db,
      sql`
WITH unnumbered AS MATERIALIZED (
  SELECT id FROM event WHERE project_id = ${projectId}::uuid AND sequence IS NULL ORDER BY id
  LIMIT ${NUMBERED_MAX_COUNT} FOR UPDATE SKIP LOCKED
), placed AS (
  SELECT id, row_number() OVER (ORDER BY id) AS place FROM unnumbered
), head AS (
  UPDATE event_head SET last_sequence = last_sequence + (SELECT count(*) FROM placed)
  WHERE project_id = ${projectId}::uuid RETURNING last_sequence
)
UPDATE event e SET sequence = h.last_sequence - (SELECT count(*) FROM placed) + p.place
FROM placed p CROSS JOIN head h WHERE e.id = p.id RETURNING e.id`,
    );
    return numberedCount === NUMBERED_MAX_COUNT;
  });
}

/** The maximum number of events in one transaction. */
export const NUMBERED_MAX_COUNT = 500;

/** Makes the head of a project if there is none, and locks it. */
async function lockHead(db: Queryable, projectId: string): Promise<void> {
  await execute(
    db,
    sql`INSERT INTO event_head (project_id) VALUES (${projectId}::uuid)
        ON CONFLICT (project_id) DO UPDATE SET last_sequence = event_head.last_sequence RETURNING project_id`,
  );
}

/** Returns whether a project has committed events without a number. */
export async function hasUnnumbered(db: Queryable, projectId: string): Promise<boolean> {
  const [row] = await readRows(
    db,
    sql`SELECT EXISTS (SELECT 1 FROM event WHERE project_id = ${projectId}::uuid AND sequence IS NULL) AS found`,
    { found: boolean },
  );
  return row?.found === true;
}
