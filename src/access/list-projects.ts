import { type Page, type PageRequest, readPage, UUID_POSITION } from "../paging/read-page.ts";
import type { Database } from "../store/database.ts";
import { PROJECT_FIELDS, type ProjectDetails } from "./read-project.ts";

/** Reads a page of the networks' projects, newest first. Throws VALIDATION for a token of another list. */
export function listProjects(
  { prisma }: Pick<Database, "prisma">,
  networks: readonly string[],
  request: PageRequest,
): Promise<Page<ProjectDetails>> {
  return readPage(request, {
    scope: ["project", ...networks],
    positionOf: ({ id }) => id,
    position: UUID_POSITION,
    read: (after, take) =>
      prisma.project.findMany({
        where: { network: { in: [...networks] }, ...(after === undefined ? {} : { id: { lt: after } }) },
        orderBy: { id: "desc" },
        take,
        select: PROJECT_FIELDS,
      }),
  });
}
