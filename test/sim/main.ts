import { parseArgs } from "node:util";
import { describeReport, killsFrom, runSimulations, seedsFrom } from "./run-seeds.ts";

/**
 * `npm run sim -- [--kills] [--from 1] [--count 1000] [--log]` runs this many seeds. With `--kills` it runs one seed
 * repeatedly and kills its replica at one call or answer after another. Exits with 1 if a guarantee is violated.
 */
const { values } = parseArgs({
  options: {
    from: { type: "string", default: "1" },
    count: { type: "string", default: "1000" },
    kills: { type: "boolean", default: false },
    log: { type: "boolean", default: false },
  },
});
const [from, count] = [Number(values.from), Number(values.count)];
let failedCount = 0;
let awaitCount = Number.POSITIVE_INFINITY;
const isThere = await runSimulations(
  values.kills ? killsFrom(from, count) : seedsFrom(from, count),
  (report) => {
    if (report.faults.length > 0) failedCount++;
    if (report.killAt !== undefined && report.deaths === 0)
      awaitCount = Math.min(awaitCount, report.awaitCount);
    console.log(describeReport(report));
    if (values.log) console.log(report.log.join("\n"));
  },
);
if (!isThere) {
  console.error("simulations need a PostgreSQL server: set TEST_DATABASE_URL");
  process.exitCode = 2;
} else {
  if (Number.isFinite(awaitCount)) console.log(`the replica had ${awaitCount} places to be killed at`);
  console.log(`${count - failedCount} simulations held, ${failedCount} did not`);
  if (failedCount > 0) process.exitCode = 1;
}
