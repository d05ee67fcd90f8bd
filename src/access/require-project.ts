import sql from "sql-template-tag";
import { ServiceError } from "../errors/service-error.ts";
import type { Queryable } from "../store/database.ts";
import { execute } from "../store/statements.ts";

/**
 * Throws PROJECT_NOT_FOUND unless the project is on one of the networks. Projects are never deleted and never change
 * their network.
 */
export async function requireProject(
  db: Queryable,
  networks: readonly string[],
  projectId: string,
): Promise<void> {
  const count = await execute(
    db,
    sql`SELECT 1 FROM project WHERE id = ${projectId} AND network = ANY(${networks}::text[])`,
  );
  if (count > 0) return;
  throw projectNotFound(projectId);
}

/** Returns the error for an id that no project of the networks has. */
export function projectNotFound(projectId: string): ServiceError {
  return new ServiceError("PROJECT_NOT_FOUND", "the network has no project with this id", {
    metadata: { projectId },
  });
}
