import { loadConfig } from "../config.ts";
import { migrate } from "../store/migrate.ts";
import { openDatabase } from "../store/open-database.ts";
import { createLogger } from "../telemetry/logger.ts";

/** `tss migrate`: brings the database up to date and says what it did. */
export async function runMigrate(): Promise<void> {
  const config = loadConfig();
  const log = createLogger({ level: config.logLevel });
  const database = await openDatabase({
    databaseUrl: config.databaseUrl?.reveal(),
    dataDirectory: config.dataDirectory,
    log,
  });
  try {
    const applied = await migrate(database, log);
    console.log(applied.length === 0 ? "the database is up to date" : `applied ${applied.join(", ")}`);
  } finally {
    await database.close();
  }
}
