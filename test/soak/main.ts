import { parseArgs } from "node:util";
import { soak } from "./soak.ts";
import { soakTransport } from "./soak-transport.ts";

/**
 * `npm run soak -- [--seconds 600] [--only chain|transport]`: runs both soaks for this time each. Exit code 1 if
 * anything was lost, duplicated or leaked.
 */
const { values } = parseArgs({
  options: { seconds: { type: "string", default: "600" }, only: { type: "string" } },
});
const durationMs = 1_000 * Number(values.seconds);
const print = (line: string) => console.log(line);

function conclude(faults: readonly string[], summary: string): void {
  for (const fault of faults) print(`does not hold: ${fault}`);
  print(`${summary}, ${faults.length} faults found`);
  if (faults.length > 0) process.exitCode = 1;
}

if (values.only !== "chain") {
  const { faults, table, counts } = await soakTransport({ durationMs });
  print(table);
  conclude(faults, `${Object.values(counts).reduce((sum, count) => sum + count, 0)} rounds of traffic`);
}
if (values.only !== "transport") {
  const report = await soak({ durationMs, print });
  if (report === undefined) {
    console.error("a soak of the chain needs a PostgreSQL server: set TEST_DATABASE_URL");
    process.exitCode = 2;
  } else {
    conclude(report.faults, `${report.completedCount} signed, ${report.kills} kills`);
  }
}
