/** Kills a replica at some of its calls and replies, on a real PostgreSQL. */
import { describe, expect, it } from "vitest";
import { testDatabase } from "../support/database/postgres.ts";
import { environment } from "../support/environment.ts";
import { countPlaces, describeReport, killsAt, runSimulations, spreadPlaces } from "./run-seeds.ts";
import type { SimulationReport } from "./simulate.ts";

/** The number of kills in this test. `npm run sim -- --kills` covers all places. */
const COUNT = environment.isReference ? 8 : 4;

const probe = await testDatabase();
await probe?.drop();

describe.skipIf(probe === undefined)("a replica that is killed once", () => {
  it("loses nothing and does nothing twice, wherever it is killed", {
    timeout: 900_000,
  }, async () => {
    const places = spreadPlaces((await countPlaces())!, COUNT);
    const reports: SimulationReport[] = [];
    await runSimulations(killsAt(places), (report) => reports.push(report));
    expect(reports.filter(({ faults }) => faults.length > 0).map(describeReport)).toEqual([]);
    // The places are spread over its whole life, so that it dies in every run.
    expect(reports.map(({ killAt, deaths }) => [killAt, deaths])).toEqual(places.map((place) => [place, 1]));
  });
});

describe("the places at which a replica is killed", () => {
  it("reach from its first call to its last one, with no long stretch between two of them", () => {
    for (const [placeCount, count] of [
      [1_531, 40],
      [41, 40],
      [80, 3],
    ] as const) {
      const places = spreadPlaces(placeCount, count);
      const gaps = places.slice(1).map((place, index) => place - places[index]!);
      expect([places.length, places[0], places.at(-1)]).toEqual([count, 1, placeCount]);
      expect(Math.min(...gaps)).toBeGreaterThan(0);
      expect(Math.max(...gaps)).toBeLessThanOrEqual(Math.ceil(placeCount / (count - 1)));
    }
    expect(spreadPlaces(3, 40)).toEqual([1, 2, 3]);
  });
});
