import sql, { type Sql } from "sql-template-tag";
import { CURVE_ALGORITHMS, type SignatureAlgorithmName } from "../../../protocol/algorithms.ts";
import { invalidField } from "../../platform/errors/service-error.ts";
import {
  bigint,
  type Columns,
  listOf,
  nullable,
  number,
  oneOf,
  text,
  time,
} from "../../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../../platform/store/database.ts";
import type { Scope } from "../caller.ts";
import type { Allowance, Budget } from "./allowance.ts";

/**
 * Stores an allowance under the id of its key or session, in the transaction that creates it. An id that sessions share
 * keeps its row, with what was spent. Limits that are all absent store nothing. Returns the id of the stored row, or
 * null.
 */
export async function insertAllowance(
  db: Queryable,
  { id, projectId, limits }: NewAllowance,
): Promise<string | null> {
  const { userReferences, dwalletIds, algorithms, budget } = limits;
  if ([userReferences, dwalletIds, algorithms, budget].every((limit) => limit === undefined)) return null;
  await execute(
    db,
    sql`INSERT INTO allowance
          (id, project_id, user_references, dwallet_ids, algorithms, window_seconds, max_count, max_micro_usd)
        VALUES (${id}, ${projectId}, ${userReferences ?? []}, ${dwalletIds ?? []}, ${algorithms ?? []},
                ${budget?.windowSeconds ?? null}, ${budget?.maxCount ?? null}, ${budget?.maxMicroUsd ?? null})
        ON CONFLICT (id) DO NOTHING`,
  );
  return id;
}

/** Returns SQL that deletes the allowances of deleted sessions. `source` is a table expression with their ids. */
export const deleteAllowances = (source: Sql): Sql =>
  sql`DELETE FROM allowance WHERE id IN (SELECT id FROM ${source})`;

/** An allowance to store. */
export interface NewAllowance {
  readonly id: string;
  readonly projectId: string;
  readonly limits: Limits;
}

/** What an allowance limits. An absent limit limits nothing. */
export type Limits = Partial<Omit<Allowance, "id">>;

/**
 * Throws VALIDATION for limits that the scopes would evade. The ledger, the credit and the deposits are the whole
 * project's, so a key that is confined to users or dWallets must not read or take them. A key that is confined to
 * existing dWallets must not make others.
 */
export function checkLimits({ userReferences, dwalletIds }: Limits, scopes: readonly Scope[]): void {
  if ((userReferences ?? dwalletIds) !== undefined && scopes.includes("billing"))
    throw invalidField(
      "scopes",
      "billing is of the whole project, so a key of users or dWallets cannot have it",
    );
  if (dwalletIds !== undefined && scopes.includes("onboard"))
    throw invalidField("scopes", "a key of named dWallets cannot have onboard, which makes others");
}

/**
 * Joins the allowance of a key or session to a statement, under the alias `a`. `id` is the SQL of the allowance's id,
 * which may be null.
 */
export const joinAllowance = (id: Sql): Sql => sql`LEFT JOIN allowance a ON a.id = ${id}`;

/** Selects {@link ALLOWANCE_COLUMNS} after {@link joinAllowance}. */
export const SELECT_ALLOWANCE: Sql = sql`a.id AS "allowanceId", a.user_references AS "userReferences",
  a.dwallet_ids AS "dwalletIds", a.algorithms, a.window_seconds AS "windowSeconds", a.max_count AS "maxCount",
  a.max_micro_usd AS "maxMicroUsd"`;

/** The columns of {@link SELECT_ALLOWANCE}; all are null without an allowance. */
export interface AllowanceRow {
  readonly allowanceId: string | null;
  readonly userReferences: readonly string[] | null;
  readonly dwalletIds: readonly string[] | null;
  readonly algorithms: readonly SignatureAlgorithmName[] | null;
  readonly windowSeconds: number | null;
  readonly maxCount: number | null;
  readonly maxMicroUsd: bigint | null;
}

/** Every signature algorithm, in the order of the contract. */
export const ALGORITHMS: readonly SignatureAlgorithmName[] = CURVE_ALGORITHMS.map(
  ({ signatureAlgorithm }) => signatureAlgorithm,
);

/** The columns of {@link AllowanceRow}. */
export const ALLOWANCE_COLUMNS: Columns<AllowanceRow> = {
  allowanceId: nullable(text),
  userReferences: nullable(listOf(text)),
  dwalletIds: nullable(listOf(text)),
  algorithms: nullable(listOf(oneOf(...ALGORITHMS))),
  windowSeconds: nullable(number),
  maxCount: nullable(number),
  maxMicroUsd: nullable(bigint),
};

/** Returns the allowance of a row with {@link ALLOWANCE_COLUMNS}; undefined if it has none. */
export function allowanceOf(row: AllowanceRow): Allowance | undefined {
  if (row.allowanceId === null) return undefined;
  return {
    id: row.allowanceId,
    userReferences: limitOf(row.userReferences),
    dwalletIds: limitOf(row.dwalletIds),
    algorithms: limitOf(row.algorithms),
    budget: budgetOf(row),
  };
}

function limitOf<T>(list: readonly T[] | null): readonly T[] | undefined {
  return list === null || list.length === 0 ? undefined : list;
}

function budgetOf({ windowSeconds, maxCount, maxMicroUsd }: AllowanceRow): Budget | undefined {
  if (windowSeconds === null) return undefined;
  return { windowSeconds, maxCount: maxCount ?? undefined, maxMicroUsd: maxMicroUsd ?? undefined };
}

/**
 * Joins what is left of the budget after {@link joinAllowance}, under the alias `l`, by the database's clock. `at` is
 * the SQL of the time.
 */
export const joinBudgetLeft = (at: Sql = sql`clock_timestamp()`): Sql => sql`LEFT JOIN LATERAL (
  SELECT a.max_count - budget_sum(counts) AS left_count, a.max_micro_usd - budget_sum(amounts) AS left_micro_usd,
    budget_grows_at(counts, slot, a.window_seconds) AS grows_at
  FROM (SELECT greatest(a.newest_slot, budget_slot(${at}, a.window_seconds)) AS slot) t CROSS JOIN LATERAL (
    SELECT budget_slots_at(a.slot_counts::bigint[], a.newest_slot, slot) AS counts,
           budget_slots_at(a.slot_micro_usd, a.newest_slot, slot) AS amounts) s
  WHERE a.window_seconds IS NOT NULL) l ON true`;

/** Selects {@link BUDGET_LEFT_COLUMNS} after {@link joinBudgetLeft}. */
export const SELECT_BUDGET_LEFT: Sql = sql`l.left_count::float8 AS "leftCount", l.left_micro_usd AS "leftMicroUsd",
  l.grows_at AS "growsAt"`;

/** What is left of a budget. */
export interface BudgetLeft {
  /** The number of requests; null without a limit. */
  readonly leftCount: number | null;
  /** Null without a limit. */
  readonly leftMicroUsd: bigint | null;
  /** When the oldest spent part is free again; null if nothing is spent. */
  readonly growsAt: Date | null;
}

/** The columns of {@link BudgetLeft}. */
export const BUDGET_LEFT_COLUMNS: Columns<BudgetLeft> = {
  leftCount: nullable(number),
  leftMicroUsd: nullable(bigint),
  growsAt: nullable(time),
};

/** Reads what is left of the budget of an allowance. Undefined for an allowance that is not stored or has no budget. */
export async function readBudgetLeft(db: Queryable, allowanceId: string): Promise<BudgetLeft | undefined> {
  const [left] = await readRows(
    db,
    sql`SELECT ${SELECT_BUDGET_LEFT} FROM allowance a ${joinBudgetLeft()}
        WHERE a.id = ${allowanceId} AND a.window_seconds IS NOT NULL`,
    BUDGET_LEFT_COLUMNS,
  );
  return left;
}
