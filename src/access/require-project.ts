import { ServiceError } from "../errors/service-error.ts";
import type { Queryable } from "../store/database.ts";

/** Throws PROJECT_NOT_FOUND unless the network has this project. Projects are never deleted and keep their network. */
export async function requireProject(db: Queryable, network: string, projectId: string): Promise<void> {
  const found = await db.query("SELECT 1 FROM project WHERE id = $1 AND network = $2", [projectId, network]);
  if (found.length > 0) return;
  throw new ServiceError("PROJECT_NOT_FOUND", "the network has no project with this id", {
    metadata: { projectId },
  });
}
