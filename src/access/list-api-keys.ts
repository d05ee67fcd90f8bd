import sql from "sql-template-tag";
import { type Page, type PageRequest, readPage, UUID_POSITION } from "../paging/read-page.ts";
import type { Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";
import { API_KEY_COLUMNS, type ApiKeyDetails, SELECT_API_KEY } from "./read-api-key.ts";
import { requireProject } from "./require-project.ts";

/**
 * Reads a page of a project's keys, newest first, including revoked and expired ones. Throws PROJECT_NOT_FOUND, and
 * VALIDATION for a token of another list.
 */
export async function listApiKeys(
  db: Queryable,
  networks: readonly string[],
  { projectId, ...request }: PageRequest & { readonly projectId: string },
): Promise<Page<ApiKeyDetails>> {
  await requireProject(db, networks, projectId);
  return readPage(request, {
    scope: ["api_key", projectId],
    positionOf: ({ id }) => id,
    position: UUID_POSITION,
    read: (after = LAST, count) =>
      readRows(
        db,
        sql`${SELECT_API_KEY} WHERE k.project_id = ${projectId} AND k.id < ${after}::uuid
            ORDER BY k.id DESC LIMIT ${count}`,
        API_KEY_COLUMNS,
      ),
  });
}

/** Sorts after every row. */
const LAST = "ffffffff-ffff-ffff-ffff-ffffffffffff";
