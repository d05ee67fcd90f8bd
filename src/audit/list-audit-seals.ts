import { type Page, type PageRequest, readPage } from "../paging/read-page.ts";
import type { AuditSeal } from "../seals/audit-seal.ts";
import type { Database } from "../store/database.ts";

/** Reads a page of the seals, the newest first. Throws VALIDATION for a token of another list. */
export function listAuditSeals(
  { prisma }: Pick<Database, "prisma">,
  request: PageRequest,
): Promise<Page<AuditSeal>> {
  return readPage(request, {
    scope: ["audit_seal"],
    positionOf: ({ number }) => String(number),
    position: POSITION,
    read: (after, take) =>
      prisma.auditSeal.findMany({
        where: after === undefined ? {} : { number: { lt: BigInt(after) } },
        orderBy: { number: "desc" },
        take,
      }),
  });
}

const POSITION = /^\d{1,18}$/;
