import type { Database } from "./database.ts";
import type { StoreLog } from "./store-log.ts";

/** Where the data is. */
export interface OpenDatabaseOptions {
  /** A PostgreSQL server; without one, the embedded PGlite in `<dataDirectory>/pg`. */
  readonly databaseUrl?: string | undefined;
  readonly dataDirectory: string;
  readonly log: StoreLog;
}

/** Opens the database. It may still lack migrations. Loads only the engine that is used. */
export async function openDatabase({
  databaseUrl,
  dataDirectory,
  log,
}: OpenDatabaseOptions): Promise<Database> {
  if (databaseUrl !== undefined) {
    return (await import("./open-postgres.ts")).openPostgres(databaseUrl, log);
  }
  log.info({ dataDirectory }, "no DATABASE_URL: using the embedded database, for one process only");
  return (await import("./open-pglite.ts")).openPglite(dataDirectory);
}
