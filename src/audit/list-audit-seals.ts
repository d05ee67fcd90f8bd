import { type Page, type PageRequest, readPage } from "../paging/read-page.ts";
import type { Queryable } from "../store/database.ts";
import type { AuditSeal } from "./audit-seal.ts";
import { SEAL_COLUMNS } from "./seal-columns.ts";

const POSITION = /^\d{1,18}$/;
/** Comes behind every seal. */
const LAST = "9223372036854775807";

/** Reads a page of the seals, the newest first. Throws VALIDATION for a token of another list. */
export function listAuditSeals(db: Queryable, request: PageRequest): Promise<Page<AuditSeal>> {
  return readPage(request, {
    scope: ["audit_seal"],
    positionOf: ({ number }) => String(number),
    position: POSITION,
    read: (after = LAST, count) =>
      db.query<AuditSeal>(
        `SELECT ${SEAL_COLUMNS} FROM audit_seal s WHERE s.number < $1::bigint ORDER BY s.number DESC LIMIT $2`,
        [after, count],
      ),
  });
}
