import sql, { type Sql } from "sql-template-tag";
import type { Allowance } from "../access/allowances/allowance.ts";
import { BUDGET_OUTCOME_COLUMNS, type BudgetOutcome, budgetParts } from "../access/allowances/budgets.ts";
import { type AuditOrigin, auditInsert, OWN_ORIGIN, originColumns } from "../audit/audit-event.ts";
import { postings } from "../ledger/postings.ts";
import type { Idempotency } from "../platform/idempotency/idempotency.ts";
import { keyInsert } from "../platform/idempotency/key-table.ts";
import { ALONE, batchStatements } from "../platform/store/batch-statements.ts";
import { joinSlices } from "../platform/store/byte-slices.ts";
import { boolean, type Columns, nullableColumns, number } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";
import { inTurn, presignMoves } from "../presigns/presign-moves.ts";
import { activeUsersOf } from "../users/ensure-user.ts";
import { type Reaching, reachColumns, withinUseOf } from "../users/reach.ts";
import { withDWallet } from "./shown-sign-request.ts";
import { SIGN_REQUEST, SIGN_REQUEST_COLUMNS, type SignRequestRow } from "./sign-request.ts";

/**
 * Takes the next ready presign of the bucket, holds the price and inserts the request, all or nothing, in one
 * statement. It locks the project's row first, so a project's calls are decided one after the other, and only a project
 * that can pay takes a presign. Each recently expired reservation lowers the maximum of open ones by one, down to a
 * tenth. A project that lets presigns expire thus holds few of them, and unspent credit does not keep presigns from
 * others. Reserves nothing if another request has the idempotency key. The price of a caller with a budget must fit it,
 * and is taken from it.
 *
 * The dWallet must be Active, and the caller may sign with it. Its row is locked FOR SHARE until the reservation is
 * committed, so a later exit sees the reservation, and a later reservation sees the exit. The row of its user, who must
 * not be frozen, is locked in the same way.
 *
 * Reservations of a project in one bucket that arrive together share a statement. It grants what it would grant to each
 * after those before it; whatever it does not grant is decided alone. A caller that has left before its statement begins
 * takes no presign: the call rejects with the signal's reason.
 */
export function takeReservation(
  db: Queryable,
  origin: AuditOrigin,
  reservation: NewReservation,
): Promise<ReservationOutcome> {
  return takeTogether(db, { ...reservation, origin });
}

interface NewReservation extends Reaching {
  readonly id: string;
  /** The id of the dWallet's row. */
  readonly dwalletId: string;
  readonly network: string;
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly hashScheme: number;
  readonly networkEncryptionKeyId: string;
  readonly message: Uint8Array;
  readonly priceMicroUsd: bigint;
  /** How long the half is held, in seconds; undefined for a request that is signed at once. */
  readonly holdSeconds?: number | undefined;
  /** The part of the price that the hold costs. Default 0. */
  readonly holdPriceMicroUsd?: bigint | undefined;
  readonly ttlMs: number;
  /** The maximum number of the project's open reservations, including this one, while none of them expires. */
  readonly openMaxCount: number;
  /** The limits of the caller. Default: none. */
  readonly allowance?: Allowance | undefined;
  /** The owner of the idempotency key. */
  readonly keyScope: string;
  readonly idempotency: Idempotency | undefined;
  /** Fires when the caller has left. Default: never. */
  readonly signal?: AbortSignal | undefined;
}

/** The outcome of an attempt. If nothing was reserved, an earlier call may own the idempotency key. */
type ReservationOutcome =
  | { readonly reserved: SignRequestRow }
  | "no-presign"
  | "no-credit"
  | "not-active"
  | "frozen"
  | BudgetOutcome
  | TooManyOpen;

/** The project has the maximum number of open reservations. */
interface TooManyOpen {
  readonly openMaxCount: number;
}

interface Asked extends NewReservation {
  readonly origin: AuditOrigin;
}

const takeTogether = batchStatements<Asked, ReservationOutcome>({
  lineOf: ({ projectId, network, curve, signatureAlgorithm, networkEncryptionKeyId }) =>
    [projectId, network, curve, signatureAlgorithm, networkEncryptionKeyId].join(" "),
  subjectOf: ({ projectId }) => projectId,
  signalOf: ({ signal }) => signal,
  batchMaxCount: 64,
  async run(db, asked) {
    const [only] = asked;
    const shared = asked.length === 1 ? asked : asked.filter(canShare);
    if (only === undefined || shared.length === 0) return asked.map(() => ALONE);
    const rows = await readRows(db, reservationStatement(shared), OUTCOME);
    const outcomes = new Map(rows.map((row) => [shared[row.place], outcomeOf(row)]));
    if (asked.length === 1) return [outcomes.get(only) ?? "no-credit"];
    return asked.map((one) => {
      const outcome = outcomes.get(one);
      return typeof outcome === "object" && "reserved" in outcome ? outcome : ALONE;
    });
  },
});

/** A budget is counted for one reservation at a time, and a key belongs to the first call that has it. */
function canShare(
  { allowance, keyScope, idempotency }: Asked,
  place: number,
  asked: readonly Asked[],
): boolean {
  if (allowance?.budget !== undefined) return false;
  if (idempotency === undefined) return true;
  return !asked
    .slice(0, place)
    .some((one) => one.keyScope === keyScope && one.idempotency?.key === idempotency.key);
}

function outcomeOf(row: OutcomeRow): ReservationOutcome {
  // Its columns are null if the statement reserved nothing.
  if (row.id !== null) return { reserved: row as SignRequestRow };
  if (!row.signable) return "not-active";
  if (!row.thawed) return "frozen";
  if (!row.funded) return "no-credit";
  if (!row.fitsBudget) return row;
  // Also if the credit arrived while the statement waited for the project. The next attempt uses it.
  return row.allowed ? "no-presign" : { openMaxCount: row.openMaxCount };
}

type OutcomeRow = BudgetOutcome & { readonly [Name in keyof SignRequestRow]: SignRequestRow[Name] | null } & {
  /** The position of the reservation in the statement, from 0. */
  readonly place: number;
  readonly funded: boolean;
  readonly allowed: boolean;
  readonly openMaxCount: number;
  readonly signable: boolean;
  readonly thawed: boolean;
};

const OUTCOME: Columns<OutcomeRow> = {
  place: number,
  funded: boolean,
  allowed: boolean,
  openMaxCount: number,
  signable: boolean,
  thawed: boolean,
  ...BUDGET_OUTCOME_COLUMNS,
  ...nullableColumns(SIGN_REQUEST),
};

/** The share of the maximum that a project keeps however many of its reservations have expired: one tenth. */
const LEAST_SHARE = 10;

/**
 * Returns the statement for reservations of one project in one bucket, with different keys. Only a single one may have
 * a budget. A reservation is granted if the project could also pay for all usable ones before it.
 *
 * `account` has the project's free credit in two versions: the newest one, which is locked, and the one of when the
 * statement began, from which the posting of the hold starts. Credit that arrived between the two decides nothing yet:
 * the key would be taken, and then nothing held.
 */
function reservationStatement(asked: readonly Asked[]): Sql {
  const [first] = asked as readonly [Asked];
  const { projectId, network, curve, signatureAlgorithm, networkEncryptionKeyId } = first;
  const budget = budgetParts(first.allowance, first.priceMicroUsd, { locked: sql`account` });
  // PostgreSQL expects few ids in an array, and a hundred rows in the JSON, for which it may scan all of the project's.
  const dwalletIds = [...new Set(asked.map(({ dwalletId }) => dwalletId))];
  const messages = joinSlices(asked.map(({ message }) => message));
  const rows = asked.map(({ id, dwalletId, hashScheme, keyScope, idempotency, ...one }, place) => ({
    place,
    id,
    dwallet_id: dwalletId,
    hash_scheme: hashScheme,
    price_micro_usd: String(one.priceMicroUsd),
    hold_seconds: one.holdSeconds,
    hold_price_micro_usd: String(one.holdPriceMicroUsd ?? 0n),
    message_at: messages.slices[place]?.at,
    message_length: messages.slices[place]?.length,
    ttl_ms: one.ttlMs,
    open_max: one.openMaxCount,
    ...originColumns(one.origin),
    ...reachColumns(one),
    ...(idempotency && {
      scope: keyScope,
      key: idempotency.key,
      method: idempotency.method,
      fingerprint: Buffer.from(idempotency.fingerprint).toString("hex"),
    }),
  }));
  return sql`
WITH asked AS MATERIALIZED (
  SELECT * FROM json_to_recordset(${JSON.stringify(rows)}::json) AS asked (
    place integer, id uuid, dwallet_id uuid, hash_scheme integer, price_micro_usd bigint, hold_seconds integer,
    hold_price_micro_usd bigint, message_at integer,
    message_length integer, ttl_ms double precision, open_max integer, actor text, request_id text, address text,
    reach_users text[], reach_dwallets text[], scope text, key text, method text, fingerprint text)
), account AS (
  SELECT balance_micro_usd - held_micro_usd AS free_micro_usd, open_reservations,
    (SELECT balance_micro_usd - held_micro_usd FROM project WHERE id = ${projectId}::uuid) AS began_micro_usd,
    ${postings.countedLapses(sql`project`)} AS lapses
  FROM project WHERE id = ${projectId}::uuid FOR UPDATE
), dwallet_now AS (
  SELECT asked.place, d.project_id, d.user_reference FROM asked JOIN dwallet d ON d.id = asked.dwallet_id
  WHERE d.id = ANY(${dwalletIds}::uuid[]) AND d.state = 'Active' AND ${withinUseOf(sql`asked`, projectId, sql`d`)}
    AND (SELECT count(*) FROM account) = 1
  ORDER BY d.id FOR SHARE OF d
), user_now AS (${activeUsersOf(sql`dwallet_now`)}), usable AS (
  SELECT place FROM dwallet_now WHERE user_reference IS NULL OR user_reference IN (SELECT reference FROM user_now)
), funds AS (
  SELECT place, open_max, total_micro_usd <= free_micro_usd AS funded, total_micro_usd <= began_micro_usd AS holdable,
    open_reservations + ordinal <= open_max AS allowed
  FROM (
    SELECT place, free_micro_usd, began_micro_usd, open_reservations,
      sum(price_micro_usd) OVER in_order AS total_micro_usd, count(*) OVER in_order AS ordinal,
      greatest(open_max - lapses, open_max / ${LEAST_SHARE}::integer, 1) AS open_max
    FROM asked JOIN usable USING (place) CROSS JOIN account WINDOW in_order AS (ORDER BY place)
  ) AS each
), ${budget.look}chosen AS (
  SELECT place, row_number() OVER (ORDER BY place) AS turn FROM funds
  WHERE funded AND holdable AND allowed${budget.andFits}
), taken AS MATERIALIZED (
  SELECT presign.id, presign.returned_at FROM presign
  WHERE network = ${network} AND curve = ${curve} AND signature_algorithm = ${signatureAlgorithm}
    AND network_encryption_key_id = ${networkEncryptionKeyId} AND state = 'ready'
  ORDER BY ${inTurn} LIMIT (SELECT count(*) FROM chosen) FOR UPDATE SKIP LOCKED
), claim AS (
  SELECT asked.*, presign.presign_id, ${projectId}::uuid AS project_id
  FROM asked JOIN chosen USING (place) JOIN (
    SELECT id AS presign_id, row_number() OVER (ORDER BY ${inTurn}) AS turn FROM taken AS presign
  ) AS presign USING (turn)
), keyed AS (${keyInsert(sql`(
  SELECT scope, ${network}::text AS network, key, method, decode(fingerprint, 'hex') AS fingerprint, id AS subject_id
  FROM claim) AS claimed`)}
), granted AS (
  SELECT * FROM claim WHERE key IS NULL OR (scope, key) IN (SELECT scope, key FROM keyed)
), ${postings.hold(sql`granted`)}, ${budget.take(sql`posting_hold`)}reserved AS (
  INSERT INTO sign_request (id, project_id, dwallet_id, presign_id, network, curve, signature_algorithm, hash_scheme,
                            message, price_micro_usd, hold_seconds, hold_price_micro_usd, allowance_id, allowance_slot,
                            status, expires_at)
  SELECT g.id, g.project_id, g.dwallet_id, g.presign_id, ${network}, ${curve}, ${signatureAlgorithm}, g.hash_scheme,
         substring(${messages.bytes}::bytea FROM g.message_at FOR g.message_length), g.price_micro_usd,
         g.hold_seconds, g.hold_price_micro_usd, ${budget.allowanceId}, ${budget.slot}, 'prepared',
         clock_timestamp() + g.ttl_ms * interval '1 millisecond'
  FROM granted g JOIN posting_hold USING (id)
  RETURNING *
), held AS (${presignMoves.hold(sql`reserved`)}), audited AS (${auditInsert(
    "sign.reserve",
    sql`(SELECT g.* FROM granted g JOIN reserved USING (id)) AS made`,
    OWN_ORIGIN,
  )})
SELECT asked.place, coalesce(funds.funded, false) AS funded, coalesce(funds.allowed, false) AS allowed,
  coalesce(funds.open_max, 0) AS "openMaxCount",
  asked.place IN (SELECT place FROM dwallet_now) AS signable, asked.place IN (SELECT place FROM usable) AS thawed,
  ${budget.outcome}, made.*
FROM asked LEFT JOIN funds USING (place)
  LEFT JOIN (SELECT ${SIGN_REQUEST_COLUMNS} FROM ${withDWallet(sql`reserved`)}) AS made ON made.id = asked.id`;
}
