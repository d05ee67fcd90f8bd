import { openSimServer, type SimServer } from "./sim-server.ts";
import { type SimulationReport, simulate } from "./simulate.ts";

const REPLICA_COUNT = 2;

/** A simulation to run. */
export interface Run {
  readonly seed: number;
  /** See {@link simulate}. */
  readonly killAt?: number;
}

/**
 * Runs simulations one after another on one database, and calls `onReport` after each. Returns false if there is no
 * PostgreSQL.
 */
export async function runSimulations(
  runs: readonly Run[],
  onReport: (report: SimulationReport) => void,
): Promise<boolean> {
  let server: SimServer | undefined;
  try {
    for (const { seed, killAt } of runs) {
      server ??= await openSimServer(REPLICA_COUNT);
      if (server === undefined) return false;
      const report = await simulate(seed, server, killAt);
      onReport(report);
      if (report.isStuck) {
        await server.close();
        server = undefined;
      }
    }
    return true;
  } finally {
    await server?.close();
  }
}

/** Returns one simulation for each of `count` seeds. */
export function seedsFrom(from: number, count: number): Run[] {
  return Array.from({ length: count }, (_, index) => ({ seed: from + index }));
}

/**
 * Returns one simulation with the same seed for each of `count` calls and answers of a replica, which is killed there.
 */
export function killsFrom(from: number, count: number, stride = 1): Run[] {
  return Array.from({ length: count }, (_, index) => ({ seed: 1, killAt: from + index * stride }));
}

/** Describes a report in a line, with the command that repeats a failure. */
export function describeReport(report: SimulationReport): string {
  const { seed, killAt, faults, deaths, completedCount, failedCount, transactionCount, steps } = report;
  const name = killAt === undefined ? `seed ${seed}` : `kill ${killAt}`;
  const counts = `${completedCount} completed, ${failedCount} failed, ${transactionCount} transactions, ${deaths} deaths, ${steps} steps`;
  if (faults.length === 0) return `${name}: ${counts}`;
  return [
    `${name}: ${counts}; what does not hold:`,
    ...faults.map((fault) => `  ${fault}`),
    `replay it: npm run sim -- ${killAt === undefined ? "" : "--kills "}--from ${killAt ?? seed} --count 1 --log`,
  ].join("\n");
}
