import { parseArgs } from "node:util";
import { fuzz } from "./fuzz.ts";
import { describeCase } from "./fuzz-case.ts";

/**
 * `npm run fuzz -- [--count 100000] [--from 0] [--seed 1] [--case 7]`. Exits with 1 if a guarantee is violated. If Node
 * itself aborts, the last line names the first case of the batch.
 */
const { values } = parseArgs({
  options: {
    from: { type: "string", default: "0" },
    count: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    case: { type: "string" },
  },
});
const seed = Number(values.seed);
const only = values.case === undefined ? undefined : Number(values.case);
console.log(`seed ${seed}`);
const found = await fuzz({
  seed,
  from: only ?? Number(values.from),
  count: only === undefined ? Number(values.count) : 1,
  onProgress: (first) => console.log(`cases from ${first}`),
});
for (const { cases, faults } of found) {
  for (const fault of new Set(faults)) console.log(`does not hold: ${fault}`);
  if (cases.length > 1)
    console.log(`only cases ${cases[0]?.number} to ${cases.at(-1)?.number} together do that`);
  else
    for (const one of cases)
      console.log(`${describeCase(one)}\nreplay it: npm run fuzz -- --seed ${seed} --case ${one.number}`);
}
console.log(`${found.length} faults found`);
if (found.length > 0) process.exitCode = 1;
