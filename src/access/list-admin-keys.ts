import { type Page, type PageRequest, readPage, UUID_POSITION } from "../paging/read-page.ts";
import type { Queryable } from "../store/database.ts";
import { ADMIN_KEY_COLUMNS, type AdminKeyDetails } from "./read-admin-key.ts";

/** Sorts after every row. */
const LAST = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/**
 * Reads a page of the named admin keys, the newest first, revoked and expired ones too. Throws VALIDATION for a token
 * of another list.
 */
export function listAdminKeys(db: Queryable, request: PageRequest): Promise<Page<AdminKeyDetails>> {
  return readPage(request, {
    scope: ["admin_key"],
    positionOf: ({ id }) => id,
    position: UUID_POSITION,
    read: (after = LAST, count) =>
      db.query<AdminKeyDetails>(
        `SELECT ${ADMIN_KEY_COLUMNS} FROM admin_key WHERE id < $1::uuid ORDER BY id DESC LIMIT $2`,
        [after, count],
      ),
  });
}
