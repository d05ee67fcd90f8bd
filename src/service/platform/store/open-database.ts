import type { Log } from "../telemetry/logger.ts";
import type { Database } from "./database.ts";

/** Opens the database. It may still lack migrations. Loads only the engine that is used. */
export async function openDatabase({
  databaseUrl,
  dataDirectory,
  log,
  poolSizeCount,
  statementTimeoutMs,
  pooler,
}: OpenDatabaseOptions): Promise<Database> {
  if (databaseUrl !== undefined) {
    return (await import("./open-postgres.ts")).openPostgres(databaseUrl, log, {
      poolSizeCount,
      statementTimeoutMs,
      pooler,
    });
  }
  log.info(
    { dataDirectory },
    "DATABASE_URL is not set: using the embedded database, which supports one process",
  );
  return (await import("./open-pglite.ts")).openPglite(dataDirectory);
}

/** Options of {@link openDatabase}. */
interface OpenDatabaseOptions {
  /** A PostgreSQL server; without one, the embedded PGlite in `<dataDirectory>/pg`. */
  readonly databaseUrl?: string | undefined;
  readonly dataDirectory: string;
  readonly log: StoreLog;
  /** What a pooler before PostgreSQL does. Default `auto`: looks for one. */
  readonly pooler?: "auto" | "none" | "transaction" | undefined;
  /** The maximum number of connections to PostgreSQL. Default 16. */
  readonly poolSizeCount?: number | undefined;
  /** The time after which PostgreSQL ends a statement. Default: never. The embedded database has no such limit. */
  readonly statementTimeoutMs?: number | undefined;
}

/** The store's log. */
export type StoreLog = Log;
