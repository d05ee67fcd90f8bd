import sql from "sql-template-tag";
import { type AuditOrigin, auditInsert } from "../audit/audit-event.ts";
import type { Queryable } from "../store/database.ts";
import { newId } from "../store/ids.ts";
import { execute } from "../store/statements.ts";

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
