import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isDatabaseUnavailable } from "../errors/error-mapping.ts";
import type { Database, Queryable } from "./database.ts";
import type { StoreLog } from "./open-database.ts";
import { LockWait, type LockWaitOptions } from "./pool-database.ts";
import { isDeadlock, isLockTimeout } from "./sql-errors.ts";

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
type MigratedDatabase = Database;

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

/**
 * Applies one migration with its bookkeeping in the same transaction. It retries while others
 * hold the needed locks. Throws if the script fails, which it records, and at the time limit, when nothing is applied.
 */
async function applyMigration(
  db: Database,
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
  database: Database,
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

/** A migration in `prisma/migrations`. */
export interface Migration {
  readonly name: string;
  readonly script: string;
  /** SHA-256 of the script in hex, as Prisma records it. */
  readonly checksum: string;
}

/** Reads all migrations in the order in which they are applied: by name. */
export async function readMigrations(folder = migrationsFolder()): Promise<Migration[]> {
  return Promise.all(
    (await migrationNames(folder)).map(async (name) => {
      const script = await readFile(path.join(folder, name, "migration.sql"), "utf8");
      return { name, script, checksum: createHash("sha256").update(script).digest("hex") };
    }),
  );
}

/** The names of all migrations in the order in which they are applied. */
export async function migrationNames(folder = migrationsFolder()): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

/** The nearest `prisma/migrations` above this file: the repository's, or the published package's. */
function migrationsFolder(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const candidate = path.join(folder, "prisma", "migrations");
    if (existsSync(candidate)) return candidate;
    const parent = path.dirname(folder);
    if (parent === folder) throw new Error("the package lacks its folder prisma/migrations");
    folder = parent;
  }
}

/** The keys of PostgreSQL's advisory locks, in one place so that no two parts share a key. */
export const LOCK_KEYS = {
  /** The key of Prisma's own engine, so that `prisma migrate deploy` and `migrate` exclude each other. */
  migration: 72_707_369,
  /** Used with the network: one planner of its presigns at a time, because two would fill the same gap. */
  presignPlanner: 72_707_370,
  /** One sealer of the audit trail at a time. */
  auditSealer: 72_707_371,
  /** One verification of the ledger at a time, because it reads all of it. */
  ledgerVerification: 72_707_372,
  /** One process at a time marks itself as running, so that no two miss each other. */
  processMarks: 72_707_373,
  /** Used with a user: creates one session of the user at a time, so that none exceeds their number. */
  userSessions: 72_707_374,
} as const;
