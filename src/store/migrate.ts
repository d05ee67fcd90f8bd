import { randomUUID } from "node:crypto";
import type { Database, Sql } from "./database.ts";
import { LOCK_KEYS } from "./lock-keys.ts";
import { type Migration, readMigrations } from "./migrations.ts";
import type { StoreLog } from "./store-log.ts";

/** Prisma's bookkeeping, as its engine makes it. */
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

/**
 * Brings the database up to date and returns the names of the migrations that it applied. Many processes may call
 * it at once: each migration is applied once, and all return when the database is up to date. Each script runs in
 * one transaction. Throws when a script fails, or when one failed earlier and nobody has resolved that.
 */
export async function migrate(
  database: Pick<Database, "session">,
  log: StoreLog,
  migrations?: readonly Migration[],
): Promise<string[]> {
  const wanted = migrations ?? (await readMigrations());
  return database.session(async (sql) => {
    await sql.query("SELECT pg_advisory_lock($1)", [LOCK_KEYS.migration]);
    try {
      return await applyMissing(sql, wanted, log);
    } finally {
      await sql.query("SELECT pg_advisory_unlock($1)", [LOCK_KEYS.migration]);
    }
  });
}

async function applyMissing(sql: Sql, wanted: readonly Migration[], log: StoreLog): Promise<string[]> {
  await sql.query(BOOKKEEPING);
  const rows = await sql.query<AppliedRow>(
    "SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL",
    [],
  );
  const failed = rows.find((row) => row.finished_at === null);
  if (failed !== undefined) {
    throw new Error(
      `migration ${failed.migration_name} failed earlier; look at its row in _prisma_migrations, ` +
        "mend the database and mark it with `prisma migrate resolve`",
    );
  }
  const checksums = new Map(rows.map((row) => [row.migration_name, row.checksum]));
  const applied: string[] = [];
  for (const migration of wanted) {
    const known = checksums.get(migration.name);
    if (known === undefined) {
      await apply(sql, migration);
      log.info({ migration: migration.name }, "applied a migration");
      applied.push(migration.name);
    } else if (known !== migration.checksum) {
      log.warn({ migration: migration.name }, "a migration was edited after it had been applied");
    }
  }
  return applied;
}

async function apply(sql: Sql, { name, script, checksum }: Migration): Promise<void> {
  const id = randomUUID();
  await sql.query("INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)", [
    id,
    checksum,
    name,
  ]);
  try {
    await sql.query(script);
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    await sql.query("UPDATE _prisma_migrations SET logs = $2 WHERE id = $1", [id, text]);
    throw new Error(`migration ${name} failed: ${text}`, { cause });
  }
  await sql.query(
    "UPDATE _prisma_migrations SET finished_at = now(), applied_steps_count = 1 WHERE id = $1",
    [id],
  );
}
