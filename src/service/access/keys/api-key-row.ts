import sql, { type Sql } from "sql-template-tag";
import { type Columns, listOf, nullable, oneOf, text, time } from "../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../platform/store/database.ts";
import type { Allowance } from "../allowances/allowance.ts";
import {
  ALLOWANCE_COLUMNS,
  type AllowanceRow,
  allowanceOf,
  BUDGET_LEFT_COLUMNS,
  type BudgetLeft,
  joinAllowance,
  joinBudgetLeft,
  SELECT_ALLOWANCE,
  SELECT_BUDGET_LEFT,
} from "../allowances/allowances.ts";
import { SCOPES, type Scope } from "../caller.ts";

/** A key as the operator sees it, without the key itself and its hash. */
export interface ApiKeyDetails extends StoredDetails {
  /** The limits of a narrow key; undefined for a key without any. */
  readonly allowance: Allowance | undefined;
  /** What is left of its budget; undefined without a budget. */
  readonly budgetLeft: BudgetLeft | undefined;
}

/** The parts of a key that its own row has. */
interface StoredDetails {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** Precise to the minute. */
  readonly lastUsedAt: Date | null;
  /** Empty if every address may use the key. */
  readonly allowedAddresses: readonly string[];
  /** Empty if no page may send the key. */
  readonly allowedOrigins: readonly string[];
  /** The id of the key that this one replaces. */
  readonly rotatedFrom: string | null;
  /** The id of the key that replaces this one. */
  readonly replacedBy: string | null;
}

/** Reads keys. `rest` is the rest of the statement after the table `api_key`, which has the alias `k`. */
export async function readApiKeyRows(db: Queryable, rest: Sql): Promise<ApiKeyDetails[]> {
  const rows = await readRows(db, sql`${SELECT_API_KEY} ${rest}`, COLUMNS);
  return rows.map(({ leftCount, leftMicroUsd, growsAt, ...row }) => {
    const allowance = allowanceOf(row);
    return { ...row, allowance, budgetLeft: allowance?.budget && { leftCount, leftMicroUsd, growsAt } };
  });
}

const SELECT_API_KEY = sql`SELECT k.id, k.project_id AS "projectId", k.name, k.prefix, k.scopes,
  k.created_at AS "createdAt", k.expires_at AS "expiresAt", k.revoked_at AS "revokedAt", k.last_used_at AS "lastUsedAt",
  k.allowed_addresses AS "allowedAddresses", k.allowed_origins AS "allowedOrigins", k.rotated_from AS "rotatedFrom",
  (SELECT n.id FROM api_key n WHERE n.rotated_from = k.id) AS "replacedBy", ${SELECT_ALLOWANCE}, ${SELECT_BUDGET_LEFT}
  FROM api_key k ${joinAllowance(sql`k.allowance_id`)} ${joinBudgetLeft()}`;

const COLUMNS: Columns<StoredDetails & AllowanceRow & BudgetLeft> = {
  id: text,
  projectId: text,
  name: text,
  prefix: text,
  scopes: listOf(oneOf(...SCOPES)),
  createdAt: time,
  expiresAt: nullable(time),
  revokedAt: nullable(time),
  lastUsedAt: nullable(time),
  allowedAddresses: listOf(text),
  allowedOrigins: listOf(text),
  rotatedFrom: nullable(text),
  replacedBy: nullable(text),
  ...ALLOWANCE_COLUMNS,
  ...BUDGET_LEFT_COLUMNS,
};
