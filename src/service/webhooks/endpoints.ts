import sql from "sql-template-tag";
import type { ProjectCaller } from "../access/caller.ts";
import { readOutsideUrl } from "../access/identity/outside-url.ts";
import { auditInsert, writeAuditEvent } from "../audit/audit-event.ts";
import type { EventKind } from "../events/event.ts";
import { readNewestPlace, readPlaceBefore } from "../events/read-events.ts";
import { invalidField, ServiceError } from "../platform/errors/service-error.ts";
import type { Idempotency } from "../platform/idempotency/idempotency.ts";
import { type OnceOptions, runOnce } from "../platform/idempotency/run-once.ts";
import { number } from "../platform/store/columns.ts";
import { type Database, execute, newId, type Queryable, readRows } from "../platform/store/database.ts";
import {
  ENDPOINT_COLUMNS,
  ENDPOINT_ROW,
  type EndpointRow,
  endpointNotFound,
  readEndpoint,
} from "./endpoint-row.ts";
import type { EndpointSecrets } from "./endpoint-secret.ts";

/** Dependencies of the changes of endpoints. */
export interface EndpointDeps {
  readonly database: Database;
  /** Undefined if the service sends no webhooks. */
  readonly secrets: EndpointSecrets | undefined;
  /** True if URLs may use http and name addresses that are not public. */
  readonly allowsInside: boolean;
}

/** An endpoint, with its secret if this call made it. */
export interface ShownEndpoint {
  readonly endpoint: EndpointRow;
  /** Undefined for a repeated call, because no secret is stored. */
  readonly secret: string | undefined;
}

/** The maximum number of endpoints of a project. */
export const ENDPOINTS_MAX_COUNT = 16;

/**
 * Creates an endpoint, once per idempotency key. It gets the events that have no number yet, and later ones. Throws
 * VALIDATION, WEBHOOKS_OFF, TOO_MANY_WEBHOOK_ENDPOINTS, IDEMPOTENCY_KEY_REUSED and IDEMPOTENCY_IN_FLIGHT.
 */
export async function createEndpoint(
  deps: EndpointDeps,
  { projectId, network, origin }: ProjectCaller,
  idempotency: Idempotency | undefined,
  { url, kinds }: { readonly url: string; readonly kinds: readonly EventKind[] },
): Promise<ShownEndpoint> {
  const { database } = deps;
  const secrets = secretsOf(deps);
  checkUrl(deps, url);
  const { sequence } = await readNewestPlace(database, projectId);
  const made = await runOnce<MadeSecret>(
    database,
    { scope: projectId, network, idempotency },
    {
      ...KEEP_ENDPOINT_ID,
      async effect(db) {
        const name = { id: newId(), number: 1 };
        await takePlace(db, projectId);
        await execute(
          db,
          sql`INSERT INTO webhook_endpoint (id, project_id, url, kinds, public_key, sequence)
              VALUES (${name.id}, ${projectId}, ${url}, ${kinds}::text[], ${secrets.publicKey(name)}, ${sequence})`,
        );
        await writeAuditEvent(db, origin, { projectId, action: "webhook.create", subject: name.id });
        return { id: name.id, secret: secrets.show(name) };
      },
    },
  );
  return { endpoint: await readEndpoint(database, projectId, made.id), secret: made.secret };
}

/**
 * Gives an endpoint its next secret, once per idempotency key. The secret before signs for {@link OVERLAP_HOURS} hours
 * more. Throws WEBHOOK_ENDPOINT_NOT_FOUND, WEBHOOKS_OFF, IDEMPOTENCY_KEY_REUSED and IDEMPOTENCY_IN_FLIGHT.
 */
export async function rotateSecret(
  deps: EndpointDeps,
  { projectId, network, origin }: ProjectCaller,
  idempotency: Idempotency | undefined,
  id: string,
): Promise<ShownEndpoint> {
  const { database } = deps;
  const secrets = secretsOf(deps);
  const made = await runOnce<MadeSecret>(
    database,
    { scope: projectId, network, idempotency },
    {
      ...KEEP_ENDPOINT_ID,
      async effect(db) {
        const [row] = await readRows(
          db,
          sql`SELECT e.secret_number AS "secretNumber" FROM webhook_endpoint e
              WHERE e.id = ${id}::uuid AND e.project_id = ${projectId}::uuid AND e.deleted_at IS NULL
              FOR NO KEY UPDATE`,
          { secretNumber: number },
        );
        if (row === undefined) throw endpointNotFound(id);
        const name = { id: id.toLowerCase(), number: row.secretNumber + 1 };
        await execute(
          db,
          sql`UPDATE webhook_endpoint SET secret_number = ${name.number}, public_key = ${secrets.publicKey(name)},
                rotated_until = now() + ${OVERLAP_HOURS}::integer * interval '1 hour' WHERE id = ${id}::uuid`,
        );
        await writeAuditEvent(db, origin, { projectId, action: "webhook.rotate", subject: name.id });
        return { id: name.id, secret: secrets.show(name) };
      },
    },
  );
  return { endpoint: await readEndpoint(database, projectId, made.id), secret: made.secret };
}

const OVERLAP_HOURS = 24;

interface MadeSecret {
  readonly id: string;
  readonly secret: string | undefined;
}

/** A repeated call returns the endpoint without its secret. */
const KEEP_ENDPOINT_ID: Pick<OnceOptions<MadeSecret>, "keep" | "recall"> = {
  keep: ({ id }) => ({ subjectId: id }),
  recall({ subjectId }) {
    if (subjectId === null) throw new Error("no webhook endpoint is remembered");
    return { id: subjectId, secret: undefined };
  },
};

/** Changes the given fields of an endpoint. Throws WEBHOOK_ENDPOINT_NOT_FOUND and VALIDATION. */
export async function updateEndpoint(
  deps: EndpointDeps,
  { projectId, origin }: ProjectCaller,
  id: string,
  { url, kinds, isEnabled }: EndpointChange,
): Promise<EndpointRow> {
  if (url !== undefined) checkUrl(deps, url);
  const [row] = await readRows(
    deps.database,
    sql`
WITH e AS (
  UPDATE webhook_endpoint SET url = coalesce(${url ?? null}, url), kinds = coalesce(${kinds ?? null}::text[], kinds),
    disabled_for = CASE ${isEnabled ?? null}::boolean WHEN true THEN NULL
                     WHEN false THEN coalesce(disabled_for, 'requested') ELSE disabled_for END,
    failing_since = CASE ${isEnabled ?? null}::boolean WHEN true THEN NULL ELSE failing_since END
  WHERE id = ${id}::uuid AND project_id = ${projectId}::uuid AND deleted_at IS NULL RETURNING *
), audited AS (${auditInsert("webhook.update", sql`e`, origin)})
SELECT ${ENDPOINT_COLUMNS} FROM e`,
    ENDPOINT_ROW,
  );
  if (row === undefined) throw endpointNotFound(id);
  return row;
}

/** The fields to change; undefined keeps a field. */
export interface EndpointChange {
  readonly url: string | undefined;
  readonly kinds: readonly EventKind[] | undefined;
  readonly isEnabled: boolean | undefined;
}

/** Deletes an endpoint. Its deliveries are deleted later. Throws WEBHOOK_ENDPOINT_NOT_FOUND. */
export async function deleteEndpoint(
  { database }: EndpointDeps,
  { projectId, origin }: ProjectCaller,
  id: string,
): Promise<void> {
  const deletedCount = await execute(
    database,
    sql`
WITH locked AS MATERIALIZED (
  SELECT project_id FROM webhook_project WHERE project_id = ${projectId}::uuid FOR NO KEY UPDATE
), deleted AS (
  UPDATE webhook_endpoint e SET deleted_at = now() FROM locked l
  WHERE e.id = ${id}::uuid AND e.project_id = l.project_id AND e.deleted_at IS NULL RETURNING e.id, e.project_id
), counted AS (
  UPDATE webhook_project p SET endpoint_count = endpoint_count - 1 FROM deleted d WHERE p.project_id = d.project_id
), audited AS (${auditInsert("webhook.delete", sql`deleted`, origin)})
SELECT id FROM deleted`,
  );
  if (deletedCount === 0) throw endpointNotFound(id);
}

/**
 * Makes all events since a time new to an endpoint, and those of the minute before. Throws WEBHOOK_ENDPOINT_NOT_FOUND.
 */
export async function replayEvents(
  { database }: EndpointDeps,
  { projectId, origin }: ProjectCaller,
  id: string,
  since: Date,
): Promise<EndpointRow> {
  const { sequence } = await readPlaceBefore(database, projectId, since);
  const [row] = await readRows(
    database,
    sql`
WITH e AS (
  UPDATE webhook_endpoint SET sequence = least(sequence, ${sequence}::bigint)
  WHERE id = ${id}::uuid AND project_id = ${projectId}::uuid AND deleted_at IS NULL RETURNING *
), audited AS (${auditInsert("webhook.replay", sql`e`, origin)})
SELECT ${ENDPOINT_COLUMNS} FROM e`,
    ENDPOINT_ROW,
  );
  if (row === undefined) throw endpointNotFound(id);
  return row;
}

function secretsOf({ secrets }: EndpointDeps): EndpointSecrets {
  if (secrets === undefined) throw new ServiceError("WEBHOOKS_OFF", "the service sends no webhooks");
  return secrets;
}

function checkUrl({ allowsInside }: EndpointDeps, url: string): void {
  if (readOutsideUrl(url, { allowsInside }) === undefined)
    throw invalidField(
      "url",
      "must be https, without a user, a password or a fragment, and not name an address that is not public",
    );
}

/** Counts an endpoint more. Throws TOO_MANY_WEBHOOK_ENDPOINTS. */
async function takePlace(db: Queryable, projectId: string): Promise<void> {
  const takenCount = await execute(
    db,
    sql`INSERT INTO webhook_project AS p (project_id, endpoint_count) VALUES (${projectId}::uuid, 1)
        ON CONFLICT (project_id) DO UPDATE SET endpoint_count = p.endpoint_count + 1
        WHERE p.endpoint_count < ${ENDPOINTS_MAX_COUNT} RETURNING p.project_id`,
  );
  if (takenCount > 0) return;
  throw new ServiceError(
    "TOO_MANY_WEBHOOK_ENDPOINTS",
    `the project has ${ENDPOINTS_MAX_COUNT} webhook endpoints, the maximum`,
    { metadata: { maxCount: String(ENDPOINTS_MAX_COUNT) } },
  );
}
