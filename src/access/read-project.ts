import type { Database } from "../store/database.ts";
import { projectNotFound } from "./require-project.ts";

/** Reads a project that must exist. Must not be called inside a transaction. */
export async function readProject(
  { prisma }: Pick<Database, "prisma">,
  projectId: string,
): Promise<ProjectDetails> {
  const project = await prisma.project.findUnique({ where: { id: projectId }, select: PROJECT_FIELDS });
  if (project === null) throw new Error(`there is no project ${projectId}`);
  return project;
}

/** Reads a project of one of the networks. Throws PROJECT_NOT_FOUND. */
export async function getProject(
  { prisma }: Pick<Database, "prisma">,
  networks: readonly string[],
  projectId: string,
): Promise<ProjectDetails> {
  const where = { id: projectId, network: { in: [...networks] } };
  const project = await prisma.project.findFirst({ where, select: PROJECT_FIELDS });
  if (project === null) throw projectNotFound(projectId);
  return project;
}

/** A project as the operator sees it. */
export interface ProjectDetails {
  readonly id: string;
  readonly name: string;
  readonly network: string;
  readonly balanceMicroUsd: bigint;
  readonly heldMicroUsd: bigint;
  readonly createdAt: Date;
}

/** The columns of {@link ProjectDetails}, for a `select` of Prisma. */
export const PROJECT_FIELDS = {
  id: true,
  name: true,
  network: true,
  balanceMicroUsd: true,
  heldMicroUsd: true,
  createdAt: true,
} as const;
