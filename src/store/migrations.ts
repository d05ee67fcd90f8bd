import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

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
