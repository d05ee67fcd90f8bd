import { describe, expect, it } from "vitest";
import { testDatabase } from "../support/database/postgres.ts";
import { describeReport, runSimulations, seedsFrom } from "./run-seeds.ts";
import type { SimulationReport } from "./simulate.ts";

const LOG_LINES = 50;

/** One suite over these seeds. Suites run in parallel. */
export async function simulationSuite(from: number, count: number): Promise<void> {
  const probe = await testDatabase();
  await probe?.drop();

  describe.skipIf(probe === undefined)("replicas that die on a chain that fails", () => {
    const reports: SimulationReport[] = [];

    it(`lose nothing and do nothing twice, with ${count} seeds from ${from}`, {
      timeout: 900_000,
    }, async () => {
      await runSimulations(seedsFrom(from, count), (report) => reports.push(report));
      const bad = reports.filter(({ faults }) => faults.length > 0);
      const tell = (report: SimulationReport) =>
        [describeReport(report), ...report.log.slice(-LOG_LINES)].join("\n");
      expect(bad.map(tell)).toEqual([]);
      expect(reports).toHaveLength(count);
    });

    it("die often enough while requests fail and succeed", () => {
      const sum = (of: (report: SimulationReport) => number) =>
        reports.reduce((total, report) => total + of(report), 0);
      expect(sum(({ deaths }) => deaths)).toBeGreaterThan(count);
      expect(sum(({ completedCount }) => completedCount)).toBeGreaterThan(2 * count);
      expect(sum(({ failedCount }) => failedCount)).toBeGreaterThan(count / 4);
      expect(sum(({ transactionCount }) => transactionCount)).toBeGreaterThan(5 * count);
    });
  });
}
