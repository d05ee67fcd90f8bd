import { ServiceError } from "../errors/service-error.ts";
import type { Sql } from "./database.ts";

/** Throws PROJECT_NOT_FOUND unless the network has this project. Projects are never deleted and keep their network. */
export async function requireProject(sql: Sql, network: string, projectId: string): Promise<void> {
  const found = await sql.query("SELECT 1 FROM project WHERE id = $1 AND network = $2", [projectId, network]);
  if (found.length > 0) return;
  throw new ServiceError("PROJECT_NOT_FOUND", "the network has no project with this id", {
    metadata: { projectId },
  });
}
