import { existsSync } from "node:fs";
import path from "node:path";
import type { Config } from "../../service/config/config.ts";
import type { Database } from "../../service/platform/store/database.ts";
import { LockHeldError } from "../../service/platform/store/pid-lock.ts";
import { readDevelopmentFile } from "./development-file.ts";
import { messageOf, UnreachableError } from "./unreachable-error.ts";

/**
 * Opens the configured database and optionally migrates it. Throws an UnreachableError if it does not answer or
 * refuses, or if there is no embedded database yet, which takes seconds to make and would be empty. If the embedded database is in use, the error says by which process, and names the service to a command that
 * can call it.
 */
export async function openConfiguredDatabase(
  {
    databaseUrl,
    dataDirectory,
    database: { migrationLockWaitMs, pooler },
  }: Pick<Config, "databaseUrl" | "dataDirectory" | "database">,
  { migrates, creates = migrates, takesUrl = false }: OpenDatabaseWishes,
): Promise<Database> {
  if (databaseUrl === undefined && !creates && !existsSync(path.join(dataDirectory, "pg"))) {
    throw new UnreachableError(
      `there is no database in ${path.resolve(dataDirectory)}: set DATABASE_URL or DATA_DIR, or create one with \`tss migrate\``,
    );
  }
  const { openDatabase } = await import("../../service/platform/store/open-database.ts");
  const { createLogger } = await import("../../service/platform/telemetry/logger.ts");
  const log = createLogger({ level: "warn", stream: process.stderr });
  const database = await openDatabase({
    databaseUrl: databaseUrl?.reveal(),
    dataDirectory,
    pooler,
    log,
  }).catch(async (cause: unknown) => {
    throw await explain(cause, dataDirectory, takesUrl);
  });
  if (!migrates) return database;
  try {
    const { migrate } = await import("../../service/platform/store/migrate.ts");
    await migrate(database, log, { lockWaitMs: migrationLockWaitMs });
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** What a command wants of its database. */
export interface OpenDatabaseWishes {
  readonly migrates: boolean;
  /** True if the command creates the embedded database if there is none. Default: as `migrates`. */
  readonly creates?: boolean;
  /** True if the command has the option --url. Default false. */
  readonly takesUrl?: boolean;
}

/** Opens a database. The command closes it. */
export type OpenDatabase = typeof openConfiguredDatabase;

async function explain(cause: unknown, dataDirectory: string, takesUrl: boolean): Promise<Error> {
  if (cause instanceof LockHeldError) {
    const running = takesUrl ? await readDevelopmentFile(dataDirectory) : undefined;
    const hint = running && `, or use the running service that has it: --url ${running.baseUrl}`;
    return new UnreachableError(`${cause.message}${hint ?? ""}`, { cause });
  }
  return new UnreachableError(`cannot open the database: ${messageOf(cause)}`, { cause });
}
