import type { Queryable } from "../store/database.ts";

/** A project, as the operator sees it. */
export interface ProjectDetails {
  readonly id: string;
  readonly name: string;
  readonly network: string;
  readonly balanceMicroUsd: bigint;
  readonly heldMicroUsd: bigint;
  readonly createdAt: Date;
}

/** The columns of {@link ProjectDetails}, from the table `project`. */
export const PROJECT_COLUMNS = `id, name, network, balance_micro_usd AS "balanceMicroUsd",
  held_micro_usd AS "heldMicroUsd", created_at AS "createdAt"`;

/** Reads a project that is known to be there. */
export async function readProject(db: Queryable, projectId: string): Promise<ProjectDetails> {
  const [project] = await db.query<ProjectDetails>(`SELECT ${PROJECT_COLUMNS} FROM project WHERE id = $1`, [
    projectId,
  ]);
  if (project === undefined) throw new Error(`there is no project ${projectId}`);
  return project;
}
