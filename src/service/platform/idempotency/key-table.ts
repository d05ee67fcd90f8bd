import sql, { type Sql } from "sql-template-tag";
import { ServiceError } from "../errors/service-error.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../lifecycle/background-loop.ts";
import type { Clock } from "../lifecycle/clock.ts";
import { bytea, nullable, text } from "../store/columns.ts";
import { execute, type Queryable, readRows } from "../store/database.ts";
import type { Log } from "../telemetry/logger.ts";
import type { Idempotency } from "./idempotency.ts";

/** The owner of the keys: a project's id, or `admin` for the operator. Each has its own keys on each network. */
export interface KeyScope {
  readonly scope: string;
  readonly network: string;
}

export interface Remembered {
  /** The id of the row that the call inserted. */
  readonly subjectId: string | null;
  readonly reply: Uint8Array | null;
}

/**
 * Returns a statement that assigns a key to a call. It inserts one row into `idempotency_key` for the row of `source`,
 * a FROM item with the column `subject_id`, and returns that row only if the call now has the key. It waits for a
 * concurrent call that is taking the same key, takes over an expired key, and leaves a valid one alone. Without an
 * idempotency key it returns no row.
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
 * Reads the earlier call with the same key, if there was one in the last 24 hours. Throws IDEMPOTENCY_KEY_REUSED if it
 * was a different call.
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
    { method: text, fingerprint: bytea, subjectId: nullable(text), reply: nullable(bytea) },
  );
  if (row !== undefined && Buffer.compare(row.fingerprint, fingerprint) !== 0) {
    throw new ServiceError("IDEMPOTENCY_KEY_REUSED", "the idempotency key was used with another request", {
      metadata: { method: row.method },
    });
  }
  return row;
}

/**
 * Deletes at most `maxCount` keys. Returns their number. Skips a key that a call is taking over.
 *
 * Selects rows by their ctid and by the statement's own time. An index cannot be searched by clock_timestamp(), which
 * may change from row to row, and a join by the key would read all keys of the day.
 */
export function sweepKeys(db: Queryable, maxCount: number): Promise<number> {
  return execute(
    db,
    sql`DELETE FROM idempotency_key WHERE ctid = ANY(ARRAY(
          SELECT ctid FROM idempotency_key WHERE expires_at <= statement_timestamp()
          ORDER BY expires_at LIMIT ${maxCount} FOR UPDATE SKIP LOCKED
        )) RETURNING key`,
  );
}

export interface KeySweepDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
  /** Default 60 s. */
  readonly intervalMs?: number;
}

const DEFAULT_INTERVAL_MS = 60_000;
/** The maximum number in one pass. The loop then checks whether to stop. */
const PASS_MAX_COUNT = 1_000;

/** Deletes expired idempotency keys. A key stops counting when it expires, not when it is deleted. */
export function createKeySweep({ database, clock, log, intervalMs }: KeySweepDeps): BackgroundLoop {
  return createBackgroundLoop({
    name: "idempotency keys",
    intervalMs: intervalMs ?? DEFAULT_INTERVAL_MS,
    clock,
    log,
    async pass() {
      return (await sweepKeys(database, PASS_MAX_COUNT)) === PASS_MAX_COUNT;
    },
  });
}
