import type { Idempotency } from "../idempotency/idempotency.ts";
import { ADMIN_SCOPE, runOnce } from "../idempotency/run-once.ts";
import type { Database } from "../store/database.ts";
import type { AdminCaller } from "./caller.ts";
import { insertProject } from "./insert-project.ts";
import { type ProjectDetails, readProject } from "./read-project.ts";

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
