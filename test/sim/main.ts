import { parseArgs } from "node:util";
import { countPlaces, describeReport, killsAt, type Run, runSimulations, seedsFrom } from "./run-seeds.ts";

/**
 * `npm run sim -- [--from 1] [--count 1000] [--log]` runs this many seeds. `--kills [--count …]` runs one seed
 * repeatedly and kills its replica at each of its calls and answers in turn, and fails if `--count` is smaller than
 * their number. `--kill-at 17` kills it at one of them. Exits with 1 if a guarantee is violated.
 */
const { values } = parseArgs({
  options: {
    from: { type: "string", default: "1" },
    count: { type: "string" },
    kills: { type: "boolean", default: false },
    "kill-at": { type: "string" },
    log: { type: "boolean", default: false },
  },
});
const runs = await chosenRuns();
let failedCount = 0;
const isThere =
  runs !== undefined &&
  (await runSimulations(runs, (report) => {
    if (report.faults.length > 0) failedCount++;
    console.log(describeReport(report));
    if (values.log) console.log(report.log.join("\n"));
  }));
if (!isThere) {
  console.error("simulations need a PostgreSQL server: set TEST_DATABASE_URL");
  process.exitCode = 2;
} else {
  console.log(`${runs.length - failedCount} simulations held, ${failedCount} did not`);
  if (failedCount > 0) process.exitCode = 1;
}

/** Returns undefined if there is no PostgreSQL. */
async function chosenRuns(): Promise<Run[] | undefined> {
  const killAt = values["kill-at"];
  if (killAt !== undefined) return killsAt([Number(killAt)]);
  if (!values.kills) return seedsFrom(Number(values.from), Number(values.count ?? 1_000));
  const placeCount = await countPlaces();
  if (placeCount === undefined) return undefined;
  const count = Number(values.count ?? placeCount);
  console.log(`the replica has ${placeCount} places to be killed at`);
  if (!(count >= placeCount)) {
    console.error(`--count ${values.count} would leave ${placeCount - count} of them out: leave it away`);
    process.exit(1);
  }
  return killsAt(Array.from({ length: placeCount }, (_, index) => index + 1));
}
