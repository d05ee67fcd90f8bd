import { randomUUID } from "node:crypto";
import { isDatabaseUnavailable } from "../errors/database-unavailable.ts";
import type { Database, Queryable } from "./database.ts";
import type { LockWait } from "./lock-wait.ts";
import type { Migration } from "./migrations.ts";
import { isDeadlock, isLockTimeout } from "./sql-errors.ts";
import type { StoreLog } from "./store-log.ts";

/**
 * Applies one migration with its bookkeeping in the same transaction. It retries while others
 * hold the needed locks. Throws if the script fails, which it records, and at the time limit, when nothing is applied.
 */
export async function applyMigration(
  db: Pick<Database, "query" | "transaction">,
  migration: Migration,
  wait: LockWait,
  log: StoreLog,
): Promise<void> {
  for (;;) {
    const cause = await attempt(db, migration, wait.lockTimeoutMs);
    if (cause === undefined) return;
    if (!isLockTimeout(cause) && !isDeadlock(cause)) {
      // After the loss of the server, the transaction is either complete or absent.
      throw isDatabaseUnavailable(cause) ? cause : await noteFailure(db, migration, cause);
    }
    const holders = await readHolders(db);
    if (!(await wait.again())) {
      throw new Error(
        `migration ${migration.name} got no lock within ${wait.totalMs / 1_000} s and was not applied; ` +
          `start again when these transactions have ended: ${holders}`,
        { cause },
      );
    }
    log.warn({ migration: migration.name, holders }, "a migration is waiting for a lock; retrying");
  }
}

/** Returns undefined if the migration is applied, else the error. */
async function attempt(
  database: Pick<Database, "transaction">,
  { name, script, checksum }: Migration,
  lockTimeoutMs: number,
): Promise<Error | undefined> {
  try {
    await database.transaction(async (db) => {
      // A script may take long, for example to build an index. Only its wait for locks is bounded.
      await db.query(`SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${lockTimeoutMs}`);
      await db.query(script);
      await db.query(
        `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
         VALUES ($1, $2, $3, clock_timestamp(), 1)`,
        [randomUUID(), checksum, name],
      );
    });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Records the failure as Prisma's engine does, so that no process continues before an operator resolves it. */
async function noteFailure(db: Queryable, { name, checksum }: Migration, cause: Error): Promise<Error> {
  await db.query(
    "INSERT INTO _prisma_migrations (id, checksum, migration_name, logs) VALUES ($1, $2, $3, $4)",
    [randomUUID(), checksum, name, cause.message],
  );
  return new Error(`migration ${name} failed: ${cause.message}`, { cause });
}

/** Returns the oldest open transactions. PostgreSQL shows those of other roles only to superusers and monitors. */
const HOLDERS = `
SELECT pid, application_name AS name, extract(epoch FROM clock_timestamp() - xact_start)::int AS seconds
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
ORDER BY xact_start LIMIT 3`;

async function readHolders(db: Queryable): Promise<string> {
  const rows = await db.query<{ pid: number; name: string; seconds: number }>(HOLDERS, []);
  const told = rows.map(
    ({ pid, name, seconds }) => `process ${pid} (${name || "no name"}), open for ${seconds} s`,
  );
  return told.join("; ") || "none that this role may see";
}
