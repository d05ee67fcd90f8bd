import { type Page, type PageRequest, readPage, UUID_POSITION } from "../paging/read-page.ts";
import type { Queryable } from "../store/database.ts";
import { PROJECT_COLUMNS, type ProjectDetails } from "./read-project.ts";

/** Sorts after every row. */
const LAST = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Reads a page of the network's projects, the newest first. Throws VALIDATION for a token of another list. */
export function listProjects(
  db: Queryable,
  network: string,
  request: PageRequest,
): Promise<Page<ProjectDetails>> {
  return readPage(request, {
    scope: ["project", network],
    positionOf: ({ id }) => id,
    position: UUID_POSITION,
    read: (after = LAST, count) =>
      db.query<ProjectDetails>(
        `SELECT ${PROJECT_COLUMNS} FROM project WHERE network = $1 AND id < $2::uuid ORDER BY id DESC LIMIT $3`,
        [network, after, count],
      ),
  });
}
