/** Clients, replicas that are killed, and a chain that fails, on a real PostgreSQL: what must hold at the end. */
import { describe, expect, it } from "vitest";
import { openRaceDatabase } from "../support/database.ts";
import { describeReport, runSeeds } from "./run-seeds.ts";
import type { SimulationReport } from "./simulate.ts";

const SEEDS = 200;
const probe = await openRaceDatabase();
await probe?.close();

describe.skipIf(probe === undefined)("replicas that die on a chain that fails", () => {
  const reports: SimulationReport[] = [];

  it(`lose nothing and double nothing, in ${SEEDS} simulations`, { timeout: 900_000 }, async () => {
    await runSeeds(
      Array.from({ length: SEEDS }, (_, index) => index + 1),
      (report) => reports.push(report),
    );
    const bad = reports.filter(({ faults }) => faults.length > 0);
    for (const report of bad) console.error(`${describeReport(report)}\n${report.log.slice(-50).join("\n")}`);
    expect(bad.map(describeReport)).toEqual([]);
    expect(reports).toHaveLength(SEEDS);
  });

  it("are tried hard enough: replicas died, requests failed and succeeded, transactions went by", () => {
    const sum = (of: (report: SimulationReport) => number) =>
      reports.reduce((total, report) => total + of(report), 0);
    expect(sum(({ deaths }) => deaths)).toBeGreaterThan(SEEDS);
    expect(sum(({ completedCount }) => completedCount)).toBeGreaterThan(2 * SEEDS);
    expect(sum(({ failedCount }) => failedCount)).toBeGreaterThan(SEEDS / 4);
    expect(sum(({ transactionCount }) => transactionCount)).toBeGreaterThan(5 * SEEDS);
  });
});
