import { randomInt } from "node:crypto";
import sql from "sql-template-tag";
import {
  boolean,
  bytea,
  type Columns,
  listOf,
  nullable,
  number,
  oneOf,
  text,
  time,
} from "../platform/store/columns.ts";
import { type Database, execute, newId, type Queryable, readRows } from "../platform/store/database.ts";
import type { SendResult } from "./send-webhook.ts";

/** A delivery that this process attempts until its lease is over. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly endpointId: string;
  /** What the attempt is known by. Its result counts only while the delivery has this lease. */
  readonly lease: string;
  readonly url: string;
  readonly secretNumber: number;
  /** True while the secret before also signs. */
  readonly isRotating: boolean;
  /** The public key of the endpoint's newest secret. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly eventId: string;
  readonly kind: string;
  readonly subject: string;
  readonly userReference: string | null;
  /** A JSON object of texts. */
  readonly data: string;
  readonly eventTime: Date;
}

/**
 * Claims up to `maxCount` due deliveries for this process, for `leaseMs`. If the process dies, another one claims them after
 * that time. Projects take turns. A delivery waits for an earlier pending one of the same subject. An endpoint has at most
 * {@link ENDPOINT_MAX_COUNT} requests at once, and only one while they fail; a project has at most
 * {@link PROJECT_MAX_COUNT}. The lock of the project's row makes the counts exact.
 */
export async function claimDeliveries(
  database: Database,
  { maxCount, leaseMs }: { readonly maxCount: number; readonly leaseMs: number },
): Promise<ClaimedDelivery[]> {
  return database.transaction(async (db) => {
    const [served] = await readRows(db, SERVE_NEXT, { ids: listOf(text) });
    if (served === undefined || served.ids.length === 0) return [];
    // The statement begins under the locks, so that it sees what others have claimed.
    return readRows(db, claim(served.ids, maxCount, leaseMs, newId()), CLAIMED_COLUMNS);
  });
}

const CLAIMED_COLUMNS: Columns<ClaimedDelivery> = {
  id: text,
  endpointId: text,
  lease: text,
  url: text,
  secretNumber: number,
  isRotating: boolean,
  publicKey: bytea,
  eventId: text,
  kind: text,
  subject: text,
  userReference: nullable(text),
  data: text,
  eventTime: time,
};

/**
 * The present time, rounded down to the milliseconds of the column `due_at`. PostgreSQL itself rounds to the nearest, and
 * a claim that follows at once would then miss half of the deliveries.
 */
export const DUE_NOW = sql`date_trunc('milliseconds', now())`;

/** The maximum number of requests to an endpoint at once. */
export const ENDPOINT_MAX_COUNT = 4;
/** The maximum number of requests to all endpoints of a project at once. */
export const PROJECT_MAX_COUNT = 8;
/** The maximum number of projects of one claim. */
const PROJECTS_MAX_COUNT = 16;

/** Locks the projects that have waited longest, of those with a due delivery, and gives them the last turn. */
const SERVE_NEXT = sql`
WITH next AS MATERIALIZED (
  SELECT p.project_id FROM webhook_project p
  WHERE EXISTS (
    SELECT FROM webhook_endpoint e JOIN webhook_delivery d ON d.endpoint_id = e.id
    WHERE e.project_id = p.project_id AND e.disabled_for IS NULL AND e.deleted_at IS NULL
      AND d.state = 'pending' AND d.due_at <= now()
  )
  ORDER BY p.served_at LIMIT ${PROJECTS_MAX_COUNT} FOR NO KEY UPDATE SKIP LOCKED
), served AS (
  UPDATE webhook_project p SET served_at = clock_timestamp() FROM next n WHERE p.project_id = n.project_id
  RETURNING p.project_id
)
SELECT coalesce(array_agg(project_id::text), '{}') AS ids FROM served`;

const claim = (projectIds: readonly string[], maxCount: number, leaseMs: number, lease: string) => sql`
WITH busy AS MATERIALIZED (
  SELECT endpoint_id, project_id, count(*)::integer AS count FROM webhook_delivery
  WHERE project_id = ANY(${projectIds}::uuid[]) AND lease IS NOT NULL AND state = 'pending' AND due_at > now()
  GROUP BY endpoint_id, project_id
), free AS MATERIALIZED (
  SELECT d.id, d.place, d.endpoint_id, e.project_id, d.due_at,
    CASE WHEN e.failing_since IS NULL THEN ${ENDPOINT_MAX_COUNT}::integer ELSE 1 END - coalesce(b.count, 0) AS room
  FROM webhook_endpoint e LEFT JOIN busy b ON b.endpoint_id = e.id
  CROSS JOIN LATERAL (
    SELECT d.id, d.endpoint_id, d.due_at, row_number() OVER (ORDER BY d.due_at, d.sequence, d.id) AS place
    FROM webhook_delivery d
    WHERE d.endpoint_id = e.id AND d.state = 'pending' AND d.due_at <= now() AND NOT EXISTS (
      SELECT FROM webhook_delivery earlier
      WHERE earlier.endpoint_id = d.endpoint_id AND earlier.subject = d.subject AND earlier.state = 'pending'
        AND earlier.sequence < d.sequence
    )
    ORDER BY d.due_at, d.sequence, d.id LIMIT ${ENDPOINT_MAX_COUNT}
  ) AS d
  WHERE e.project_id = ANY(${projectIds}::uuid[]) AND e.disabled_for IS NULL AND e.deleted_at IS NULL
), fair AS MATERIALIZED (
  SELECT f.id, f.project_id, f.due_at, row_number() OVER (PARTITION BY f.project_id ORDER BY f.place, f.due_at) AS place
  FROM free f WHERE f.place <= f.room
), chosen AS MATERIALIZED (
  SELECT f.id FROM fair f
  WHERE f.place <= ${PROJECT_MAX_COUNT}::integer
    - coalesce((SELECT sum(b.count) FROM busy b WHERE b.project_id = f.project_id), 0)
  ORDER BY f.place, f.due_at LIMIT ${maxCount}
)
UPDATE webhook_delivery d SET lease = ${lease}::uuid, attempts = d.attempts + 1,
  due_at = now() + ${leaseMs}::float8 * interval '1 millisecond'
FROM chosen c, webhook_endpoint e
WHERE d.id = c.id AND e.id = d.endpoint_id AND d.state = 'pending' AND d.due_at <= now()
RETURNING d.id, d.endpoint_id AS "endpointId", d.lease, e.url, e.secret_number AS "secretNumber",
  coalesce(e.rotated_until > now(), false) AS "isRotating", e.public_key AS "publicKey", d.event_id AS "eventId", d.kind,
  d.subject, d.user_reference AS "userReference", d.data::text AS data, d.event_time AS "eventTime"`;

/**
 * Records the result of an attempt, unless the lease is over and another process has the delivery. A status of the class
 * 2xx delivers it, 410 ends it and disables the endpoint, and anything else leads to the next attempt of
 * {@link RETRY_SECONDS}, or ends it after the last one. An endpoint that has failed for {@link FAILING_DAYS} days is
 * disabled. Returns undefined if the result does not count.
 */
export async function recordResult(
  db: Queryable,
  { id, lease }: Pick<ClaimedDelivery, "id" | "lease">,
  result: SendResult,
): Promise<RecordedResult | undefined> {
  const status = "status" in result ? result.status : null;
  const error =
    "status" in result
      ? isSuccess(result.status)
        ? null
        : `the reply has the status ${result.status}`
      : result.error;
  const isDelivered = error === null;
  const isGone = status === GONE;
  // Endpoints that failed together do not come back together.
  const jitter = 1 + randomInt(JITTER_STEPS) / JITTER_STEPS / JITTER_SHARE;
  const [row] = await readRows(
    db,
    sql`
WITH ended AS (
  UPDATE webhook_delivery d SET lease = NULL, last_status = ${status}, last_error = ${error},
    state = CASE WHEN ${isDelivered} THEN 'delivered'
                 WHEN ${isGone} OR d.attempts >= ${RETRY_SECONDS.length}::integer THEN 'failed' ELSE 'pending' END,
    ended_at = CASE WHEN ${isDelivered} OR ${isGone} OR d.attempts >= ${RETRY_SECONDS.length}::integer THEN now() END,
    due_at = now() + coalesce((${RETRY_SECONDS}::integer[])[d.attempts + 1], 0) * ${jitter}::float8 * interval '1 second'
  WHERE d.id = ${id}::uuid AND d.lease = ${lease}::uuid AND d.state = 'pending'
  RETURNING d.endpoint_id, d.state
), endpoint AS (
  UPDATE webhook_endpoint e SET
    failing_since = CASE WHEN ${isDelivered} THEN NULL ELSE coalesce(e.failing_since, now()) END,
    disabled_for = CASE WHEN e.disabled_for IS NOT NULL THEN e.disabled_for WHEN ${isGone} THEN 'gone'
      WHEN NOT ${isDelivered} AND e.failing_since <= now() - ${FAILING_DAYS}::integer * interval '1 day' THEN 'failing' END
  FROM ended WHERE e.id = ended.endpoint_id
    AND (NOT ${isDelivered} AND (e.failing_since IS NULL OR ${isGone}
           OR e.failing_since <= now() - ${FAILING_DAYS}::integer * interval '1 day')
         OR ${isDelivered} AND e.failing_since IS NOT NULL)
  RETURNING e.disabled_for
)
SELECT state, (SELECT disabled_for FROM endpoint) AS "disabledFor" FROM ended`,
    { state: oneOf("pending", "delivered", "failed"), disabledFor: nullable(text) },
  );
  return row;
}

/** The state of a delivery after an attempt. */
export interface RecordedResult {
  readonly state: "pending" | "delivered" | "failed";
  /** Why the endpoint is disabled, if the attempt changed the endpoint; null otherwise. */
  readonly disabledFor: string | null;
}

/** The waiting time before each attempt: at once, 5 s, 5 min, 30 min, and 2, 5, 10, 14, 20 and 24 hours. */
export const RETRY_SECONDS: readonly number[] = [
  ...[0, 5, 300, 1_800],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * 3_600),
];
/** A waiting time is longer by up to a tenth. */
const JITTER_SHARE = 10;
const JITTER_STEPS = 1_000;
/** Longer than all waiting times together. */
const FAILING_DAYS = 5;
const GONE = 410;

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** Returns a delivery that this process cannot sign, so that another one attempts it after a minute. */
export async function returnDelivery(db: Queryable, { id, lease }: ClaimedDelivery): Promise<void> {
  await execute(
    db,
    sql`UPDATE webhook_delivery SET lease = NULL, attempts = attempts - 1, due_at = now() + interval '1 minute'
        WHERE id = ${id}::uuid AND lease = ${lease}::uuid AND state = 'pending'`,
  );
}

/**
 * Returns for how long no worker has served a project with a due delivery to an enabled endpoint, in seconds; 0 without one.
 * A slow receiver does not count: its deliveries wait for it, not for a worker.
 */
export async function readOverdueSeconds(db: Queryable): Promise<number> {
  const [row] = await readRows(
    db,
    sql`SELECT greatest(0, coalesce(max(extract(epoch FROM now() - greatest(d.due_at, p.served_at))), 0))::float8 AS seconds
        FROM webhook_endpoint e JOIN webhook_project p ON p.project_id = e.project_id CROSS JOIN LATERAL (
          SELECT due_at FROM webhook_delivery WHERE endpoint_id = e.id AND state = 'pending' ORDER BY due_at LIMIT 1
        ) AS d WHERE e.disabled_for IS NULL AND e.deleted_at IS NULL`,
    { seconds: number },
  );
  return row?.seconds ?? 0;
}
