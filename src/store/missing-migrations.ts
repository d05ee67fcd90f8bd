import type { Queryable } from "./database.ts";
import { migrationNames } from "./migrations.ts";

/** The names of this version's migrations that the database does not have, in order. */
export async function missingMigrations(db: Queryable): Promise<string[]> {
  const applied = await db.query<{ name: string }>(
    `SELECT migration_name AS name FROM _prisma_migrations
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`,
    [],
  );
  const names = new Set(applied.map(({ name }) => name));
  return (await migrationNames()).filter((name) => !names.has(name));
}
