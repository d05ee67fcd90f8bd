import { type AuditOrigin, auditInsert, auditParameters } from "../store/audit.ts";
import type { Sql } from "../store/database.ts";
import { newId } from "../store/ids.ts";

/** Makes a project without credit and without keys, and returns its id. */
export async function createProject(
  sql: Sql,
  origin: AuditOrigin,
  { name, network }: { readonly name: string; readonly network: string },
): Promise<string> {
  const id = newId();
  await sql.query(
    `WITH created AS (
       INSERT INTO project (id, name, network) VALUES ($1, $2, $3) RETURNING id, id AS project_id
     ) ${auditInsert("project.create", "created", 4)}`,
    [id, name, network, ...auditParameters(origin)],
  );
  return id;
}
