import sql from "sql-template-tag";
import { type AuditOrigin, auditInsert } from "../audit/audit-event.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import type { Idempotency } from "../platform/idempotency/idempotency.ts";
import { ADMIN_SCOPE, runOnce } from "../platform/idempotency/run-once.ts";
import { type Database, execute, newId, type Queryable } from "../platform/store/database.ts";
import { type Page, type PageRequest, readPage, UUID_POSITION } from "../platform/store/read-page.ts";
import type { AdminCaller } from "./caller.ts";

/** Reads a project that must exist. Must not be called inside a transaction. */
export async function readProject({ prisma }: Database, projectId: string): Promise<ProjectDetails> {
  const project = await prisma.project.findUnique({ where: { id: projectId }, select: PROJECT_FIELDS });
  if (project === null) throw new Error(`there is no project ${projectId}`);
  return project;
}

/** Reads a project of one of the networks. Throws PROJECT_NOT_FOUND. */
export async function getProject(
  { prisma }: Database,
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

/** Creates a project with neither credit nor keys, and returns its id. */
export async function insertProject(
  db: Queryable,
  origin: AuditOrigin,
  { name, network }: { readonly name: string; readonly network: string },
): Promise<string> {
  const id = newId();
  await execute(
    db,
    sql`WITH created AS (
          INSERT INTO project (id, name, network) VALUES (${id}, ${name}, ${network}) RETURNING id, id AS project_id
        ) ${auditInsert("project.create", sql`created`, origin)}`,
  );
  return id;
}

/**
 * Creates a project on the caller's network, once per idempotency key. A repeat returns the project's current state.
 * Throws IDEMPOTENCY_KEY_REUSED and IDEMPOTENCY_IN_FLIGHT.
 */
export async function createProject(
  database: Database,
  { network, origin }: AdminCaller,
  idempotency: Idempotency | undefined,
  name: string,
): Promise<ProjectDetails> {
  const id = await runOnce<string>(
    database,
    { scope: ADMIN_SCOPE, network, idempotency },
    {
      effect: (db) => insertProject(db, origin, { name, network }),
      keep: (subjectId) => ({ subjectId }),
      recall({ subjectId }) {
        if (subjectId === null) throw new Error("a project was made and its id not remembered");
        return subjectId;
      },
    },
  );
  return readProject(database, id);
}

/** Reads a page of the networks' projects, newest first. Throws VALIDATION for a token of another list. */
export function listProjects(
  { prisma }: Database,
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
