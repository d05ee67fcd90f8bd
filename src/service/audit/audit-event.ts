import sql, { type Sql } from "sql-template-tag";
import { execute, type Queryable } from "../platform/store/database.ts";

/** One event of the audit trail. */
export interface AuditEvent {
  readonly projectId?: string | undefined;
  /** The action, such as `project.create`. */
  readonly action: string;
  /** The id of the object that the action changed. */
  readonly subject: string;
}

/** The actor of an event, and the call that caused it. */
export interface AuditOrigin {
  /**
   * `key:<id>`, `session:<id>`, `admin:<name>` for a named admin key, `admin` for ADMIN_API_KEY, `idp:<id>` for a token
   * of an identity provider, `system`, or `system:<user>`.
   */
  readonly actor: string;
  readonly requestId?: string | undefined;
  /** The caller's network address. */
  readonly address?: string | undefined;
  /** The `traceparent` of the call, for work that it causes later. Not part of the trail. */
  readonly traceParent?: string | undefined;
}

/** The origin of the service's own actions. */
export const SYSTEM_ORIGIN: AuditOrigin = { actor: "system" };

/** Writes one event. Call it in the transaction of the change that it describes. */
export async function writeAuditEvent(db: Queryable, origin: AuditOrigin, event: AuditEvent): Promise<void> {
  const { projectId, action, subject } = event;
  await execute(
    db,
    sql`INSERT INTO audit_event (actor, request_id, address, project_id, action, subject)
        VALUES (${columnsOf(origin)}, ${projectId ?? null}, ${action}, ${subject})`,
  );
}

/**
 * Returns a fragment of a larger statement that writes one event for each row of `source`, a FROM item with the columns
 * `project_id` and `id`. The id becomes the subject. With {@link OWN_ORIGIN}, the source also has the columns `actor`,
 * `request_id` and `address`.
 */
export function auditInsert(action: string, source: Sql, origin: AuditOrigin | typeof OWN_ORIGIN): Sql {
  const columns = originOf(origin);
  return sql`INSERT INTO audit_event (actor, request_id, address, project_id, action, subject)
    SELECT ${columns}, project_id, ${action}::text, id::text FROM ${source}`;
}

/**
 * Returns a fragment like that of {@link auditInsert} for a change that a ledger entry records. The source also has the
 * columns `ledger_entry_id` and `amount_micro_usd`, those of the ledger entry, which the event then contains.
 */
export function auditInsertWithMoney(
  action: string,
  source: Sql,
  origin: AuditOrigin | typeof OWN_ORIGIN,
): Sql {
  return sql`INSERT INTO audit_event (actor, request_id, address, project_id, action, subject, ledger_entry_id, amount_micro_usd)
    SELECT ${originOf(origin)}, project_id, ${action}::text, id::text, ledger_entry_id, amount_micro_usd FROM ${source}`;
}

/**
 * The select list of an event's ledger entry, as it counts in the trail, from `audit_event e` and its `audit_leaf l`. An
 * older replica that seals the event does not hash the two columns, so nothing proves them.
 */
export const MONEY_OF_EVENT: Sql = sql`
  CASE WHEN l.version = 1 THEN NULL ELSE e.ledger_entry_id END AS "ledgerEntryId",
  CASE WHEN l.version = 1 THEN NULL ELSE e.amount_micro_usd END AS "amountMicroUsd"`;

/** Stands for the origin of each row of a source. */
export const OWN_ORIGIN: unique symbol = Symbol("own origin");

/** Returns the values of the columns `actor`, `request_id` and `address`, of type `text`. */
export function originColumns({ actor, requestId, address }: AuditOrigin): OriginColumns {
  return { actor, request_id: requestId, address };
}

/** A column without a value is null. */
interface OriginColumns {
  readonly actor: string;
  readonly request_id: string | undefined;
  readonly address: string | undefined;
}

function originOf(origin: AuditOrigin | typeof OWN_ORIGIN): Sql {
  return origin === OWN_ORIGIN ? sql`actor, request_id, address` : columnsOf(origin);
}

function columnsOf({ actor, requestId, address }: AuditOrigin): Sql {
  return sql`${actor}::text, ${requestId ?? null}::text, ${address ?? null}::text`;
}
