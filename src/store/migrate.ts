import { applyMigration } from "./apply-migration.ts";
import type { Database } from "./database.ts";
import { LOCK_KEYS } from "./lock-keys.ts";
import { LockWait, type LockWaitOptions } from "./lock-wait.ts";
import { type Migration, readMigrations } from "./migrations.ts";
import type { StoreLog } from "./store-log.ts";

/**
 * Brings the database up to date and returns the names of the migrations that it applied. Many processes may call
 * it at once: each migration is applied once, and all return when the database is up to date. Each script runs in
 * one transaction with its bookkeeping, so that a process that dies leaves no migration half applied.
 *
 * A migration may need an exclusive lock on a table while a backup or another long transaction reads it. The statements
 * of all others queue behind the waiting migration, so it waits at most one second, lets them proceed, and retries.
 * Throws if a script fails, if an earlier failure is unresolved, and if a migration gets no lock within `lockWaitMs`,
 * in which case nothing of it is applied.
 */
export async function migrate(
  database: MigratedDatabase,
  log: StoreLog,
  { migrations, ...waits }: MigrateOptions = {},
): Promise<string[]> {
  const wanted = migrations ?? (await readMigrations());
  const wait = new LockWait(waits);
  return alone(database, wait, () => applyMissing(database, wanted, wait, log));
}

/** The database to migrate. Needs two connections, unless it is the embedded one. */
export type MigratedDatabase = Pick<Database, "kind" | "query" | "transaction">;

/** Creates Prisma's bookkeeping table as its engine does. */
const BOOKKEEPING = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id                  VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum            VARCHAR(64) NOT NULL,
  finished_at         TIMESTAMPTZ,
  migration_name      VARCHAR(255) NOT NULL,
  logs                TEXT,
  rolled_back_at      TIMESTAMPTZ,
  started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;

interface AppliedRow {
  readonly migration_name: string;
  readonly checksum: string;
  readonly finished_at: Date | null;
}

export interface MigrateOptions extends LockWaitOptions {
  /** Default: those of `prisma/migrations`. */
  readonly migrations?: readonly Migration[];
}

/**
 * Runs work while no other process migrates. A transaction that does nothing else holds the lock, because a pooler would
 * give a session's lock to another client. A process that waits holds no connection meanwhile: a pooler may have few.
 */
async function alone<T>(database: MigratedDatabase, wait: LockWait, work: () => Promise<T>): Promise<T> {
  // No other process can open the embedded database, which has only one session.
  if (database.kind === "pglite") return work();
  for (;;) {
    const done = await database.transaction(async (db) => {
      await db.query("SET LOCAL idle_in_transaction_session_timeout = 0");
      const [row] = await db.query<{ isOurs: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS "isOurs"', [
        LOCK_KEYS.migration,
      ]);
      return row?.isOurs ? { result: await work() } : undefined;
    });
    if (done !== undefined) return done.result;
    if (!(await wait.turn()))
      throw new Error(`another process has been migrating the database for ${wait.totalMs / 1_000} s`);
  }
}

async function applyMissing(
  database: MigratedDatabase,
  wanted: readonly Migration[],
  wait: LockWait,
  log: StoreLog,
): Promise<string[]> {
  await database.query(BOOKKEEPING);
  const rows = await database.query<AppliedRow>(
    "SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL",
    [],
  );
  const failed = rows.find((row) => row.finished_at === null);
  if (failed !== undefined) {
    throw new Error(
      `migration ${failed.migration_name} failed earlier; look at its row in _prisma_migrations, ` +
        "repair the database and mark the migration with `prisma migrate resolve`",
    );
  }
  const checksums = new Map(rows.map((row) => [row.migration_name, row.checksum]));
  const applied: string[] = [];
  for (const migration of wanted) {
    const known = checksums.get(migration.name);
    if (known === undefined) {
      await applyMigration(database, migration, wait, log);
      log.info({ migration: migration.name }, "applied a migration");
      applied.push(migration.name);
    } else if (known !== migration.checksum) {
      log.warn({ migration: migration.name }, "a migration was edited after it was applied");
    }
  }
  return applied;
}
