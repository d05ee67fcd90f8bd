import sql, { type Sql } from "sql-template-tag";
import type { ProjectCaller } from "../access/caller.ts";
import { auditInsert } from "../audit/audit-event.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import type { Idempotency } from "../platform/idempotency/idempotency.ts";
import { runOnce } from "../platform/idempotency/run-once.ts";
import { type Columns, nullable, number, oneOf, text, time } from "../platform/store/columns.ts";
import { type Database, execute, newId, type Queryable, readRows } from "../platform/store/database.ts";
import { type Page, type PageRequest, readPage } from "../platform/store/read-page.ts";
import { DUE_NOW } from "./claim-deliveries.ts";
import { readEndpoint } from "./endpoint-row.ts";
import { PENDING_MAX_COUNT } from "./queue-deliveries.ts";

/** The states of a delivery. */
export const DELIVERY_STATES = ["pending", "delivered", "failed"] as const;

/** One of {@link DELIVERY_STATES}. */
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** A delivery as its project sees it. */
export interface DeliveryRow {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly kind: string;
  readonly subject: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly dueAt: Date;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

const DELIVERY_ROW: Columns<DeliveryRow> = {
  id: text,
  endpointId: text,
  eventId: text,
  kind: text,
  subject: text,
  state: oneOf(...DELIVERY_STATES),
  attempts: number,
  dueAt: time,
  lastStatus: nullable(number),
  lastError: nullable(text),
  createdAt: time,
  endedAt: nullable(time),
};

const DELIVERY_COLUMNS = sql`d.id, d.endpoint_id AS "endpointId", d.event_id AS "eventId", d.kind, d.subject, d.state,
  d.attempts, d.due_at AS "dueAt", d.last_status AS "lastStatus", d.last_error AS "lastError",
  d.created_at AS "createdAt", d.ended_at AS "endedAt"`;

/** The conditions by state are constants, so that the index of a state fits. */
const IN_STATE: Readonly<Record<DeliveryState, Sql>> = {
  pending: sql`d.state = 'pending'`,
  delivered: sql`d.state = 'delivered'`,
  failed: sql`d.state = 'failed'`,
};

/** Reads a page of the deliveries to an endpoint, the newest first. Throws WEBHOOK_ENDPOINT_NOT_FOUND and VALIDATION. */
export async function listDeliveries(
  db: Queryable,
  { projectId }: Pick<ProjectCaller, "projectId">,
  {
    endpointId,
    state,
    ...request
  }: PageRequest & { readonly endpointId: string; readonly state: DeliveryState | undefined },
): Promise<Page<DeliveryRow>> {
  const endpoint = await readEndpoint(db, projectId, endpointId);
  return readPage(request, {
    scope: ["webhook deliveries", projectId, endpoint.id, state ?? ""],
    positionOf: ({ createdAt, id }) => `${createdAt.getTime()}.${id}`,
    position: /^\d{1,15}\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    read(after, count) {
      const [ms, id] = after?.split(".") ?? [];
      const before =
        ms === undefined || id === undefined
          ? sql``
          : sql` AND (d.created_at, d.id) < (${new Date(Number(ms)).toISOString()}::timestamptz, ${id}::uuid)`;
      return readRows(
        db,
        sql`SELECT ${DELIVERY_COLUMNS} FROM webhook_delivery d
            WHERE d.endpoint_id = ${endpoint.id}::uuid AND ${state === undefined ? sql`true` : IN_STATE[state]}${before}
            ORDER BY d.created_at DESC, d.id DESC LIMIT ${count}`,
        DELIVERY_ROW,
      );
    },
  });
}

/**
 * Queues a delivery again with all its attempts. One that a worker is attempting right now stays as it is. Throws
 * WEBHOOK_DELIVERY_NOT_FOUND, and WRONG_STATE if its endpoint is disabled.
 */
export async function resendDelivery(
  db: Queryable,
  { projectId, origin }: ProjectCaller,
  id: string,
): Promise<DeliveryRow> {
  const [found] = await readRows(
    db,
    sql`SELECT e.disabled_for AS "disabledFor" FROM webhook_delivery d JOIN webhook_endpoint e ON e.id = d.endpoint_id
        WHERE d.id = ${id}::uuid AND d.project_id = ${projectId}::uuid AND e.deleted_at IS NULL`,
    { disabledFor: nullable(text) },
  );
  if (found === undefined) throw deliveryNotFound(id);
  refuseDisabled(found.disabledFor);
  await execute(
    db,
    sql`
WITH again AS (
  UPDATE webhook_delivery SET state = 'pending', attempts = 0, due_at = ${DUE_NOW}, lease = NULL, ended_at = NULL
  WHERE id = ${id}::uuid AND (lease IS NULL OR due_at <= now()) RETURNING id, project_id
)
${auditInsert("webhook.resend", sql`again`, origin)}`,
  );
  const [row] = await readRows(
    db,
    sql`SELECT ${DELIVERY_COLUMNS} FROM webhook_delivery d WHERE d.id = ${id}::uuid`,
    DELIVERY_ROW,
  );
  if (row === undefined) throw deliveryNotFound(id);
  return row;
}

/**
 * Queues a test message, once per idempotency key. Throws WEBHOOK_ENDPOINT_NOT_FOUND, WRONG_STATE if the endpoint is
 * disabled, TOO_MANY_WEBHOOK_DELIVERIES, IDEMPOTENCY_KEY_REUSED and IDEMPOTENCY_IN_FLIGHT.
 */
export async function sendTest(
  database: Database,
  { projectId, network, origin }: ProjectCaller,
  idempotency: Idempotency | undefined,
  endpointId: string,
): Promise<DeliveryRow> {
  const endpoint = await readEndpoint(database, projectId, endpointId);
  refuseDisabled(endpoint.disabledFor);
  const id = await runOnce<string>(
    database,
    { scope: projectId, network, idempotency },
    {
      keep: (subjectId) => ({ subjectId }),
      recall({ subjectId }) {
        if (subjectId === null) throw new Error("no webhook delivery is remembered");
        return subjectId;
      },
      async effect(db) {
        const madeId = newId();
        const madeCount = await execute(
          db,
          testInsert(madeId, { projectId, endpointId: endpoint.id, origin }),
        );
        if (madeCount === 0)
          throw new ServiceError(
            "TOO_MANY_WEBHOOK_DELIVERIES",
            "the endpoint has too many pending deliveries",
            {
              metadata: { maxCount: String(PENDING_MAX_COUNT) },
            },
          );
        return madeId;
      },
    },
  );
  const [row] = await readRows(
    database,
    sql`SELECT ${DELIVERY_COLUMNS} FROM webhook_delivery d WHERE d.id = ${id}::uuid`,
    DELIVERY_ROW,
  );
  if (row === undefined) throw deliveryNotFound(id);
  return row;
}

const testInsert = (
  id: string,
  {
    projectId,
    endpointId,
    origin,
  }: Pick<ProjectCaller, "projectId" | "origin"> & { readonly endpointId: string },
) => sql`
WITH made AS (
  INSERT INTO webhook_delivery (id, endpoint_id, project_id, event_id, kind, subject, data, event_time)
  SELECT ${id}::uuid, ${endpointId}::uuid, ${projectId}::uuid, gen_random_uuid(), 'webhook.test', ${endpointId}::text,
    '{}'::jsonb, now()
  WHERE (SELECT count(*) FROM (SELECT FROM webhook_delivery d WHERE d.endpoint_id = ${endpointId}::uuid
                               AND d.state = 'pending' LIMIT ${PENDING_MAX_COUNT}) AS pending) < ${PENDING_MAX_COUNT}
  RETURNING id, project_id
), audited AS (${auditInsert("webhook.test", sql`made`, origin)})
SELECT id FROM made`;

function refuseDisabled(disabledFor: string | null): void {
  if (disabledFor === null) return;
  throw new ServiceError("WRONG_STATE", "the webhook endpoint is disabled: enable it first", {
    metadata: { state: `disabled: ${disabledFor}` },
  });
}

function deliveryNotFound(id: string): ServiceError {
  return new ServiceError("WEBHOOK_DELIVERY_NOT_FOUND", `there is no webhook delivery ${id}`, {
    metadata: { webhookDeliveryId: id },
  });
}
