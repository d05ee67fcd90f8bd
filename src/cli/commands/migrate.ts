import { loadConfig } from "../../service/config/config.ts";
import { migrate } from "../../service/platform/store/migrate.ts";
import { createLogger } from "../../service/platform/telemetry/logger.ts";
import { command } from "../command.ts";
import { openConfiguredDatabase } from "../open-configured-database.ts";

export const migrateCommand = command({
  summary: "migrate the database to this version",
  options: {},
  async run(_values, { environment, print, openDatabase = openConfiguredDatabase }) {
    const config = loadConfig(environment);
    const database = await openDatabase(config, { migrates: false });
    try {
      const applied = await migrate(database, createLogger({ level: config.logLevel }), {
        lockWaitMs: config.database.migrationLockWaitMs,
      });
      print(applied.length === 0 ? "the database is up to date" : `applied ${applied.join(", ")}`);
    } finally {
      await database.close();
    }
  },
});
