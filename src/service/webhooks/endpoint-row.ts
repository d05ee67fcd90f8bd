import sql, { type Sql } from "sql-template-tag";
import { ServiceError } from "../platform/errors/service-error.ts";
import {
  bytea,
  type Columns,
  listOf,
  nullable,
  number,
  oneOf,
  text,
  time,
} from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";

/** An endpoint as its project sees it. */
export interface EndpointRow {
  readonly id: string;
  readonly url: string;
  readonly kinds: readonly string[];
  /** Null while it is enabled. */
  readonly disabledFor: DisableReason | null;
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly createdAt: Date;
  /** Until when the previous secret also signs; null if it does not. */
  readonly rotatedUntil: Date | null;
  readonly failingSince: Date | null;
  readonly secretNumber: number;
}

/** Why an endpoint is disabled. */
export const DISABLE_REASONS = ["requested", "gone", "failing"] as const;

/** One of {@link DISABLE_REASONS}. */
export type DisableReason = (typeof DISABLE_REASONS)[number];

/** The columns of an {@link EndpointRow} in the result of a statement. */
export const ENDPOINT_ROW: Columns<EndpointRow> = {
  id: text,
  url: text,
  kinds: listOf(text),
  disabledFor: nullable(oneOf(...DISABLE_REASONS)),
  publicKey: bytea,
  createdAt: time,
  rotatedUntil: nullable(time),
  failingSince: nullable(time),
  secretNumber: number,
};

/** Selects the columns of an {@link EndpointRow} from the endpoint `e`. */
export const ENDPOINT_COLUMNS = sql`e.id, e.url, e.kinds, e.disabled_for AS "disabledFor", e.public_key AS "publicKey",
  e.created_at AS "createdAt", CASE WHEN e.rotated_until > now() THEN e.rotated_until END AS "rotatedUntil",
  e.failing_since AS "failingSince", e.secret_number AS "secretNumber"`;

/** Reads an endpoint of the project. Throws WEBHOOK_ENDPOINT_NOT_FOUND. */
export async function readEndpoint(db: Queryable, projectId: string, id: string): Promise<EndpointRow> {
  const [row] = await readEndpoints(db, projectId, sql`e.id = ${id}::uuid`);
  if (row === undefined) throw endpointNotFound(id);
  return row;
}

/** Reads the endpoints of the project, the newest first. Their number is bounded. */
export function readEndpoints(
  db: Queryable,
  projectId: string,
  where: Sql = sql`true`,
): Promise<EndpointRow[]> {
  return readRows(
    db,
    sql`SELECT ${ENDPOINT_COLUMNS} FROM webhook_endpoint e
        WHERE e.project_id = ${projectId}::uuid AND e.deleted_at IS NULL AND ${where} ORDER BY e.id DESC`,
    ENDPOINT_ROW,
  );
}

/** Returns the error for an endpoint that the project does not have. */
export function endpointNotFound(id: string): ServiceError {
  return new ServiceError("WEBHOOK_ENDPOINT_NOT_FOUND", `there is no webhook endpoint ${id}`, {
    metadata: { webhookEndpointId: id },
  });
}
