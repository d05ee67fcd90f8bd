import sql from "sql-template-tag";
import { nullable, number, text } from "../../store/columns.ts";
import type { Queryable } from "../../store/database.ts";
import { readRows } from "../../store/statements.ts";

/**
 * Brings the next scan of every address forward, to a random moment within the time that all scans take at
 * {@link SCANS_PER_SECOND}. A repeated call does not exceed that rate.
 */
export async function hastenScans(
  db: Queryable,
  { network, pollMs }: { readonly network: string; readonly pollMs: number },
): Promise<void> {
  const [total] = await readRows(
    db,
    sql`SELECT count(*)::float8 AS count FROM deposit_address WHERE network = ${network}`,
    { count: number },
  );
  const spreadMs = Math.max(pollMs, ((total?.count ?? 0) / SCANS_PER_SECOND) * 1_000);
  for (let after = FIRST; ; ) {
    const [page] = await readRows(
      db,
      sql`WITH page AS (
         SELECT address FROM deposit_address WHERE network = ${network} AND address > ${after}
         ORDER BY address LIMIT ${PAGE_COUNT}
       ), hastened AS (
         UPDATE deposit_address a
         SET due_at = least(a.due_at, now() + random() * ${spreadMs}::float8 * interval '1 millisecond')
         FROM page WHERE a.address = page.address RETURNING 1
       ) SELECT max(address) AS last FROM page`,
      { last: nullable(text) },
    );
    if (page === undefined || page.last === null) return;
    after = page.last;
  }
}

/** At this rate, ten thousand addresses take eight minutes. */
const SCANS_PER_SECOND = 20;
/** Bounds the rows that one statement locks. */
const PAGE_COUNT = 5_000;
/** Sorts before every address. */
const FIRST = "";
