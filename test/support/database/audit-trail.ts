import { exportAudit } from "../../../src/service/audit/export-line.ts";
import { type SealKey, sealEvents } from "../../../src/service/audit/seal-events.ts";
import { type VerifyExportOptions, verifyExport } from "../../../src/service/audit/verify-export.ts";
import type { Database, Queryable } from "../../../src/service/platform/store/database.ts";

/** Writes different events, with and without their optional parts, as the service writes them. */
export async function writeEvents(db: Queryable, count: number, actor = "admin"): Promise<void> {
  await db.query(
    `INSERT INTO audit_event (actor, action, subject, request_id, address)
     SELECT $2, 'project.create', 'Zoë''s "' || n || '"', CASE WHEN n % 2 = 0 THEN 'request-' || n END,
            CASE WHEN n % 3 = 0 THEN '192.0.2.1' END
     FROM generate_series(1, $1::integer) AS n`,
    [count, actor],
  );
}

/** Seals until no event is left. Returns the number of events of each pass. */
export async function sealAll(database: Database, key?: SealKey): Promise<number[]> {
  const counts: number[] = [];
  for (;;) {
    const count = await sealEvents(database, key);
    if (count === 0) return counts;
    counts.push(count);
  }
}

/** The lines of an export. */
export async function exported(
  database: Database,
  range: { fromSeal?: bigint; toSeal?: bigint } = {},
): Promise<Buffer[]> {
  const lines: Buffer[] = [];
  for await (const line of exportAudit(database, range)) lines.push(line);
  return lines;
}

/** Verifies these lines, and returns the result. */
export function verified(lines: readonly Uint8Array[], options?: VerifyExportOptions) {
  return verifyExport(
    (async function* () {
      yield* lines;
    })(),
    options,
  );
}
