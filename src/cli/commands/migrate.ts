import { loadConfig } from "../../service/config/config.ts";
import { command } from "../command-line/command.ts";
import { openConfiguredDatabase } from "../connections/open-configured-database.ts";

export const migrateCommand = command({
  summary: "migrate the database to this version",
  options: {},
  async run(_values, { environment, print, openDatabase = openConfiguredDatabase }) {
    const { migrate } = await import("../../service/platform/store/migrate.ts");
    const { createLogger } = await import("../../service/platform/telemetry/logger.ts");
    const config = loadConfig(environment);
    const database = await openDatabase(config, { migrates: false, creates: true });
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
