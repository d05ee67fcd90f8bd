import { ServiceError } from "../errors/service-error.ts";
import { type Page, type PageRequest, readPage, UUID_POSITION } from "../paging/read-page.ts";
import type { Queryable } from "../store/database.ts";
import {
  SHOWN_COLUMNS,
  SHOWN_TABLES,
  type ShownSignRequest,
  SIGN_STATUSES,
  type SignStatus,
} from "./shown-sign-request.ts";

/** Which sign requests are listed, and which page of them. */
export interface ListSignsInput extends PageRequest {
  /** The object on the chain; undefined means all. */
  readonly dwalletId: string | undefined;
  /** Undefined means all. */
  readonly status: SignStatus | undefined;
}

/** Comes behind every row. */
const LAST = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Reads a page of the project's sign requests, the newest first. Throws DWALLET_NOT_FOUND and VALIDATION. */
export async function listSigns(
  db: Queryable,
  projectId: string,
  { dwalletId, status, ...request }: ListSignsInput,
): Promise<Page<ShownSignRequest>> {
  const dwalletRow = dwalletId === undefined ? undefined : await findDWalletRow(db, projectId, dwalletId);
  const statuses = status === undefined ? SIGN_STATUSES : [status];
  return readPage(request, {
    scope: ["sign", projectId, dwalletId ?? "", status ?? ""],
    positionOf: ({ id }) => id,
    position: UUID_POSITION,
    read: (after = LAST, count) =>
      db.query<ShownSignRequest>(dwalletRow === undefined ? LIST_OF_PROJECT : LIST_OF_DWALLET, [
        dwalletRow ?? projectId,
        statuses,
        after,
        count,
      ]),
  });
}

async function findDWalletRow(db: Queryable, projectId: string, dwalletId: string): Promise<string> {
  const [row] = await db.query<{ id: string }>(
    "SELECT id FROM dwallet WHERE project_id = $1 AND object_id = $2",
    [projectId, dwalletId],
  );
  if (row !== undefined) return row.id;
  throw new ServiceError("DWALLET_NOT_FOUND", "the project has no dWallet with this id", {
    metadata: { dwalletId },
  });
}

/**
 * Each state is read from its own end of one index, (owner, status, id), so that no page reads more than `count` rows
 * of each, whatever the filter; a second index for lists of all states would cost every signature.
 */
const listOf = (owner: "project_id" | "dwallet_id") => `
SELECT ${SHOWN_COLUMNS} FROM ${SHOWN_TABLES} WHERE r.id = ANY(ARRAY(
  SELECT one.id FROM unnest($2::text[]) AS wanted (status) CROSS JOIN LATERAL (
    SELECT s.id FROM sign_request s WHERE s.${owner} = $1::uuid AND s.status = wanted.status AND s.id < $3::uuid
    ORDER BY s.id DESC LIMIT $4
  ) one ORDER BY one.id DESC LIMIT $4
)) ORDER BY r.id DESC`;

const LIST_OF_PROJECT = listOf("project_id");
const LIST_OF_DWALLET = listOf("dwallet_id");
