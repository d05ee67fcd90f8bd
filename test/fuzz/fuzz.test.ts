/** Two thousand conversations with the transport, the same each time. Most contain a fault. New ones run at night. */
import { expect, it } from "vitest";
import { fuzz } from "./fuzz.ts";
import { describeCase } from "./fuzz-case.ts";

const SEED = 1;
const COUNT = 2_000;

it("no input of a client ends the process, hangs, leaks a connection or gets an internal error", async () => {
  const found = await fuzz({ seed: SEED, from: 0, count: COUNT });
  const lines = found.flatMap(({ cases, faults }) => [
    ...new Set(faults),
    ...cases.slice(0, 1).map(describeCase),
  ]);
  expect(lines, `replay a case: npm run fuzz -- --seed ${SEED} --case <number>`).toEqual([]);
});
