/**
 * The storage cost of old rows: fills a throw-away database with a year of signatures and prints the size of each table
 * that grows. `npx tsx bench/old-rows.ts [--rows 1000000] [--projects 1000]`; PostgreSQL as in TEST_DATABASE_URL, else
 * 127.0.0.1, as a superuser.
 */
import { parseArgs } from "node:util";
import { migrate } from "../src/service/platform/store/migrate.ts";
import { openPostgres } from "../src/service/platform/store/open-postgres.ts";
import { testDatabase } from "../test/support/database/postgres.ts";
import { silentLog } from "../test/support/silent-log.ts";
import { fillOldRows } from "./support/fill-old-rows.ts";

const { values } = parseArgs({
  options: { rows: { type: "string", default: "1000000" }, projects: { type: "string", default: "1000" } },
});

const scratch = await testDatabase();
if (scratch === undefined) throw new Error("this needs a PostgreSQL server");
try {
  const database = await openPostgres(scratch.url, silentLog);
  await migrate(database, silentLog);
  const beganMs = performance.now();
  await fillOldRows(scratch.url, { rows: Number(values.rows), projects: Number(values.projects) });
  console.log(
    `filled in ${((performance.now() - beganMs) / 1_000).toFixed(0)} s\n\n| table | rows | size |\n|---|---|---|`,
  );
  const tables = await database.query<{ name: string; rows: bigint; size: string }>(
    `SELECT relname AS name, n_live_tup AS rows, pg_size_pretty(pg_total_relation_size(relid)) AS size
     FROM pg_stat_user_tables WHERE n_live_tup > 0 ORDER BY pg_total_relation_size(relid) DESC`,
    [],
  );
  for (const { name, rows, size } of tables) console.log(`| ${name} | ${rows} | ${size} |`);
  await database.close();
} finally {
  await scratch.drop();
}
