import { ServiceError } from "../errors/service-error.ts";
import type { Sql } from "../store/database.ts";
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
 * SQL that gives a key to a call: an INSERT into `idempotency_key` of one row for that of `source`, which is what may
 * follow FROM and has the column `subject_id`. It has one row exactly if the call has the key now: it waits
 * for another call that is being given the same key, takes over a key whose time is over, and leaves a living one
 * alone. {@link keyParameters} are bound from `$first` on. A null key gives no row.
 */
export function keyInsert(source: string, first: number): string {
  const [scope, network, key, method, fingerprint] = [0, 1, 2, 3, 4].map((index) => `$${first + index}`);
  return `INSERT INTO idempotency_key AS known (scope, network, key, method, fingerprint, subject_id, expires_at)
    SELECT ${scope}::text, ${network}::text, ${key}::text, ${method}::text, ${fingerprint}::bytea, subject_id,
           clock_timestamp() + interval '24 hours'
    FROM ${source} WHERE ${key}::text IS NOT NULL
    ON CONFLICT (scope, network, key) DO UPDATE SET method = excluded.method, fingerprint = excluded.fingerprint,
      subject_id = excluded.subject_id, reply = NULL, created_at = clock_timestamp(), expires_at = excluded.expires_at
    WHERE known.expires_at <= clock_timestamp()
    RETURNING known.key`;
}

/** The five parameters of {@link keyInsert}. */
export function keyParameters(
  { scope, network }: KeyScope,
  idempotency: Idempotency | undefined,
): [string, string, string | null, string | null, Uint8Array | null] {
  const { key = null, method = null, fingerprint = null } = idempotency ?? {};
  return [scope, network, key, method, fingerprint];
}

/**
 * What is remembered of an earlier call with the same key, if there was one in the last 24 hours.
 * Throws IDEMPOTENCY_KEY_REUSED when it was another call.
 */
export async function findRemembered(
  sql: Sql,
  { scope, network }: KeyScope,
  { key, fingerprint }: Idempotency,
): Promise<Remembered | undefined> {
  const [row] = await sql.query<Remembered & { fingerprint: Uint8Array; method: string }>(
    `SELECT method, fingerprint, subject_id AS "subjectId", reply FROM idempotency_key
     WHERE scope = $1 AND network = $2 AND key = $3 AND expires_at > clock_timestamp()`,
    [scope, network, key],
  );
  if (row !== undefined && Buffer.compare(row.fingerprint, fingerprint) !== 0) {
    throw new ServiceError("IDEMPOTENCY_KEY_REUSED", "the idempotency key was used with another request", {
      metadata: { method: row.method },
    });
  }
  return row;
}
