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
 * Returns a statement that assigns keys to calls. `source` is a FROM item with the columns `scope`, `network`, `key`,
 * `method`, `fingerprint` and `subject_id`; a row without a key is left out, and no two rows have the same key. It inserts
 * a row into `idempotency_key` for each row and returns `scope` and `key` of those that now have their key. It waits for
 * a concurrent call that is taking the same key, takes over an expired key, and leaves a valid one alone.
 */
export function keyInsert(source: Sql): Sql {
  return sql`INSERT INTO idempotency_key AS known (scope, network, key, method, fingerprint, subject_id, expires_at)
    SELECT scope, network, key, method, fingerprint, subject_id, clock_timestamp() + interval '24 hours'
    FROM ${source} WHERE key IS NOT NULL
    ON CONFLICT (scope, network, key) DO UPDATE SET method = excluded.method, fingerprint = excluded.fingerprint,
      subject_id = excluded.subject_id, reply = NULL, created_at = clock_timestamp(), expires_at = excluded.expires_at
    WHERE known.expires_at <= clock_timestamp()
    RETURNING known.scope, known.key`;
}

/**
 * Returns the condition that the row `k` of `idempotency_key` is a call of the last 24 hours with the scope, the network
 * and the key of `asked`, a relation with these columns.
 */
export function isRemembered(k: Sql, asked: Sql): Sql {
  return sql`${k}.scope = ${asked}.scope AND ${k}.network = ${asked}.network AND ${k}.key = ${asked}.key
    AND ${k}.expires_at > clock_timestamp()`;
}

/** Throws IDEMPOTENCY_KEY_REUSED unless the earlier call with the same key was the same call. */
export function requireSameCall(
  earlier: { readonly method: string; readonly fingerprint: Uint8Array },
  { fingerprint }: Pick<Idempotency, "fingerprint">,
): void {
  if (Buffer.compare(earlier.fingerprint, fingerprint) === 0) return;
  throw new ServiceError("IDEMPOTENCY_KEY_REUSED", "the idempotency key was used with another request", {
    metadata: { method: earlier.method },
  });
}

/**
 * Reads the earlier call with the same key, if there was one in the last 24 hours. Throws IDEMPOTENCY_KEY_REUSED if it
 * was a different call.
 */
export async function findRemembered(
  db: Queryable,
  { scope, network }: KeyScope,
  idempotency: Idempotency,
): Promise<Remembered | undefined> {
  const [row] = await readRows(
    db,
    sql`SELECT k.method, k.fingerprint, k.subject_id AS "subjectId", k.reply
        FROM (VALUES (${scope}::text, ${network}::text, ${idempotency.key}::text)) AS asked (scope, network, key)
        JOIN idempotency_key k ON ${isRemembered(sql`k`, sql`asked`)}`,
    { method: text, fingerprint: bytea, subjectId: nullable(text), reply: nullable(bytea) },
  );
  if (row !== undefined) requireSameCall(row, idempotency);
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
  readonly log: Log;
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
