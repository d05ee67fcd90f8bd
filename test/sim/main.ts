import { parseArgs } from "node:util";
import { describeReport, runSeeds } from "./run-seeds.ts";

/** `npm run sim -- [--from 1] [--count 1000] [--log]`: so many seeds; exit code 1 when something does not hold. */
const { values } = parseArgs({
  options: {
    from: { type: "string", default: "1" },
    count: { type: "string", default: "1000" },
    log: { type: "boolean", default: false },
  },
});
const from = Number(values.from);
const seeds = Array.from({ length: Number(values.count) }, (_, index) => from + index);
let failedCount = 0;
const isThere = await runSeeds(seeds, (report) => {
  if (report.faults.length > 0) failedCount++;
  console.log(describeReport(report));
  if (values.log) console.log(report.log.join("\n"));
});
if (!isThere) {
  console.error("simulations need a PostgreSQL server: set TEST_DATABASE_URL");
  process.exitCode = 2;
} else {
  console.log(`${seeds.length - failedCount} seeds held, ${failedCount} did not`);
  if (failedCount > 0) process.exitCode = 1;
}
