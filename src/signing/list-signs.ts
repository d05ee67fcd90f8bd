import sql, { type Sql } from "sql-template-tag";
import { ServiceError } from "../errors/service-error.ts";
import { type Page, type PageRequest, readPage, UUID_POSITION } from "../paging/read-page.ts";
import type { Database } from "../store/database.ts";
import { readRows } from "../store/statements.ts";
import {
  SHOWN_COLUMNS,
  SHOWN_ROW,
  SHOWN_TABLES,
  type ShownSignRequest,
  SIGN_STATUSES,
  type SignStatus,
} from "./shown-sign-request.ts";

/** Reads a page of the project's sign requests, the newest first. Throws DWALLET_NOT_FOUND and VALIDATION. */
export async function listSigns(
  database: Pick<Database, "prisma" | "query">,
  projectId: string,
  { dwalletId, status, ...request }: ListSignsInput,
): Promise<Page<ShownSignRequest>> {
  const dwalletRow =
    dwalletId === undefined ? undefined : await findDWalletRow(database, projectId, dwalletId);
  const owner =
    dwalletRow === undefined
      ? sql`s.project_id = ${projectId}::uuid`
      : sql`s.dwallet_id = ${dwalletRow}::uuid`;
  const statuses = status === undefined ? SIGN_STATUSES : [status];
  return readPage(request, {
    scope: ["sign", projectId, dwalletId ?? "", status ?? ""],
    positionOf: ({ id }) => id,
    position: UUID_POSITION,
    read: (after = LAST, count) => readRows(database, listOf(owner, { statuses, after, count }), SHOWN_ROW),
  });
}

/** A filter for sign requests, and a page of the result. */
export interface ListSignsInput extends PageRequest {
  /** The id of the dWallet's object; undefined means all dWallets. */
  readonly dwalletId: string | undefined;
  /** Undefined means all states. */
  readonly status: SignStatus | undefined;
}

/** Sorts after every row. */
const LAST = "ffffffff-ffff-ffff-ffff-ffffffffffff";

async function findDWalletRow(
  { prisma }: Pick<Database, "prisma">,
  projectId: string,
  objectId: string,
): Promise<string> {
  const row = await prisma.dWallet.findFirst({ where: { projectId, objectId }, select: { id: true } });
  if (row !== null) return row.id;
  throw new ServiceError("DWALLET_NOT_FOUND", "the project has no dWallet with this id", {
    metadata: { dwalletId: objectId },
  });
}

/**
 * Reads each state from the end of one index, (owner, status, id). A page thus reads at most `count` rows of each
 * state, whatever the filter. A second index for lists of all states would slow down every signature.
 */
const listOf = (
  owner: Sql,
  { statuses, after, count }: { statuses: readonly SignStatus[]; after: string; count: number },
) => sql`
SELECT ${SHOWN_COLUMNS} FROM ${SHOWN_TABLES} WHERE r.id = ANY(ARRAY(
  SELECT one.id FROM unnest(${statuses}::text[]) AS wanted (status) CROSS JOIN LATERAL (
    SELECT s.id FROM sign_request s WHERE ${owner} AND s.status = wanted.status AND s.id < ${after}::uuid
    ORDER BY s.id DESC LIMIT ${count}
  ) one ORDER BY one.id DESC LIMIT ${count}
)) ORDER BY r.id DESC`;
