import { openRaceDatabase } from "../support/database.ts";
import { type SimulationReport, simulate } from "./simulate.ts";

/** Simulations at a time: each waits more than it computes. */
const AT_ONCE_COUNT = 3;

/**
 * Runs a simulation for each seed, each on a fresh database, and calls `onReport` as they end. Returns false where there
 * is no PostgreSQL.
 */
export async function runSeeds(
  seeds: readonly number[],
  onReport: (report: SimulationReport) => void,
): Promise<boolean> {
  const waiting = seeds.values();
  let isThere = true;
  const runNext = async (): Promise<void> => {
    for (const seed of waiting) {
      const database = await openRaceDatabase();
      if (database === undefined) {
        isThere = false;
        return;
      }
      try {
        onReport(await simulate(seed, database));
      } finally {
        await database.close();
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE_COUNT }, runNext));
  return isThere;
}

/** A line for people: what happened, and how to see it again. */
export function describeReport(report: SimulationReport): string {
  const { seed, faults, deaths, completedCount, failedCount, transactionCount } = report;
  const counts = `${completedCount} completed, ${failedCount} failed, ${transactionCount} transactions, ${deaths} deaths`;
  if (faults.length === 0) return `seed ${seed}: ${counts}`;
  return [
    `seed ${seed}: ${counts}; what does not hold:`,
    ...faults.map((fault) => `  ${fault}`),
    `replay it: npm run sim -- --from ${seed} --count 1 --log`,
  ].join("\n");
}
