/** Two replicas in real processes, one of which is killed at random, repeatedly, for at least ten seconds. */
import { expect, it } from "vitest";
import { soak } from "../soak/soak.ts";

const DURATION_MS = 10_000;
const LEAST_KILLS = 3;

it("killed replicas lose nothing and do nothing twice", { timeout: 240_000 }, async ({ skip }) => {
  const report = await soak({ durationMs: DURATION_MS, leastKills: LEAST_KILLS, print: () => {} });
  // At its end the run prints what it left out.
  if (report === undefined) return skip();
  expect(report.faults).toEqual([]);
  expect(report.completedCount).toBeGreaterThan(0);
  expect(report.kills).toBeGreaterThanOrEqual(LEAST_KILLS);
});
