import { type Page, type PageRequest, readPage, UUID_POSITION } from "../paging/read-page.ts";
import type { Database } from "../store/database.ts";
import { ADMIN_KEY_FIELDS, type AdminKeyDetails } from "./read-admin-key.ts";

/**
 * Reads a page of the named admin keys, newest first, including revoked and expired ones. Throws VALIDATION for a token
 * of another list.
 */
export function listAdminKeys(
  { prisma }: Pick<Database, "prisma">,
  request: PageRequest,
): Promise<Page<AdminKeyDetails>> {
  return readPage(request, {
    scope: ["admin_key"],
    positionOf: ({ id }) => id,
    position: UUID_POSITION,
    read: (after, take) =>
      prisma.adminKey.findMany({
        where: after === undefined ? {} : { id: { lt: after } },
        orderBy: { id: "desc" },
        take,
        select: ADMIN_KEY_FIELDS,
      }),
  });
}
