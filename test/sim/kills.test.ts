/** Kills a replica at each of its calls and replies, on a real PostgreSQL. */
import { describe, expect, it } from "vitest";
import { testDatabase } from "../support/postgres.ts";
import { describeReport, killsFrom, runSimulations } from "./run-seeds.ts";
import type { SimulationReport } from "./simulate.ts";

/** The number of kills in this test. `npm run sim -- --kills` covers all. */
const COUNT = 40;
/** An odd stride that does not divide the period of recurring calls, so that it covers all kinds of calls. */
const STRIDE = 17;

const probe = await testDatabase();
await probe?.drop();

describe.skipIf(probe === undefined)("a replica that is killed once", () => {
  it("loses nothing and does nothing twice, wherever it is killed", {
    timeout: 900_000,
  }, async () => {
    const reports: SimulationReport[] = [];
    await runSimulations(killsFrom(1, COUNT, STRIDE), (report) => reports.push(report));
    expect(reports.filter(({ faults }) => faults.length > 0).map(describeReport)).toEqual([]);
    expect(reports.filter(({ deaths }) => deaths === 1).length).toBeGreaterThan(COUNT / 2);
  });
});
