import sql, { type Sql } from "sql-template-tag";
import { ServiceError } from "../errors/service-error.ts";
import { bytes, nullable, text } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";
import type { Idempotency } from "./idempotency.ts";

/** Whose keys they are: a project's id, or `admin` for the operator's. Each has its own, on each network. */
export interface KeyScope {
  readonly scope: string;
  readonly network: string;
}

/** What is remembered of a call. */
export interface Remembered {
  /** The row that it made. */
  readonly subjectId: string | null;
  /** Its reply. */
  readonly reply: Uint8Array | null;
}

/**
 * Gives a key to a call: an INSERT into `idempotency_key` of one row for that of `source`, which is what may follow
 * FROM and has the column `subject_id`. It has one row exactly if the call has the key now: it waits for another call
 * that is being given the same key, takes over a key whose time is over, and leaves a living one alone. Without an
 * idempotency key it has no row.
 */
export function keyInsert(
  source: Sql,
  { scope, network }: KeyScope,
  idempotency: Idempotency | undefined,
): Sql {
  const { key = null, method = null, fingerprint = null } = idempotency ?? {};
  return sql`INSERT INTO idempotency_key AS known (scope, network, key, method, fingerprint, subject_id, expires_at)
    SELECT ${scope}::text, ${network}::text, ${key}::text, ${method}::text, ${fingerprint}::bytea, subject_id,
           clock_timestamp() + interval '24 hours'
    FROM ${source} WHERE ${key}::text IS NOT NULL
    ON CONFLICT (scope, network, key) DO UPDATE SET method = excluded.method, fingerprint = excluded.fingerprint,
      subject_id = excluded.subject_id, reply = NULL, created_at = clock_timestamp(), expires_at = excluded.expires_at
    WHERE known.expires_at <= clock_timestamp()
    RETURNING known.key`;
}

/**
 * What is remembered of an earlier call with the same key, if there was one in the last 24 hours.
 * Throws IDEMPOTENCY_KEY_REUSED when it was another call.
 */
export async function findRemembered(
  db: Queryable,
  { scope, network }: KeyScope,
  { key, fingerprint }: Idempotency,
): Promise<Remembered | undefined> {
  const [row] = await readRows(
    db,
    sql`SELECT method, fingerprint, subject_id AS "subjectId", reply FROM idempotency_key
        WHERE scope = ${scope} AND network = ${network} AND key = ${key} AND expires_at > clock_timestamp()`,
    { method: text, fingerprint: bytes, subjectId: nullable(text), reply: nullable(bytes) },
  );
  if (row !== undefined && Buffer.compare(row.fingerprint, fingerprint) !== 0) {
    throw new ServiceError("IDEMPOTENCY_KEY_REUSED", "the idempotency key was used with another request", {
      metadata: { method: row.method },
    });
  }
  return row;
}
