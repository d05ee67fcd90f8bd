import { parseArgs } from "node:util";
import { soak } from "./soak.ts";

/** `npm run soak -- [--seconds 600]`: exit code 1 when something was lost or doubled. */
const { values } = parseArgs({ options: { seconds: { type: "string", default: "600" } } });
const report = await soak({ durationMs: 1_000 * Number(values.seconds), print: (line) => console.log(line) });
if (report === undefined) {
  console.error("a soak needs a PostgreSQL server: set TEST_DATABASE_URL");
  process.exitCode = 2;
} else {
  for (const fault of report.faults) console.log(`does not hold: ${fault}`);
  console.log(`${report.completedCount} signed, ${report.kills} kills, ${report.faults.length} faults found`);
  if (report.faults.length > 0) process.exitCode = 1;
}
