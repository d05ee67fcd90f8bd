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

/** Returns one simulation with the same seed for each of these places, at which a replica is killed. */
export function killsAt(places: readonly number[]): Run[] {
  return places.map((killAt) => ({ seed: KILLS_SEED, killAt }));
}

/**
 * Returns the number of places of the replica that {@link killsAt} kills: its calls and answers, counted from 1, while
 * nothing kills it. Returns undefined if there is no PostgreSQL.
 */
export async function countPlaces(): Promise<number | undefined> {
  let placeCount: number | undefined;
  await runSimulations(killsAt([Number.POSITIVE_INFINITY]), (report) => {
    if (report.faults.length > 0) throw new Error(`without a kill: ${report.faults.join("; ")}`);
    placeCount = report.awaitCount;
  });
  return placeCount;
}

/** Returns `count` of all places, or all if there are fewer, spread evenly from the first to the last. */
export function spreadPlaces(placeCount: number, count: number): number[] {
  if (count >= placeCount) return Array.from({ length: placeCount }, (_, index) => index + 1);
  const gap = (placeCount - 1) / Math.max(1, count - 1);
  return Array.from({ length: count }, (_, index) => 1 + Math.round(index * gap));
}

const KILLS_SEED = 1;

/** Describes a report in a line, with the command that repeats a failure. */
export function describeReport(report: SimulationReport): string {
  const { seed, killAt, faults, deaths, completedCount, failedCount, transactionCount, steps } = report;
  const name = killAt === undefined ? `seed ${seed}` : `kill ${killAt}`;
  const counts = `${completedCount} completed, ${failedCount} failed, ${transactionCount} transactions, ${deaths} deaths, ${steps} steps`;
  if (faults.length === 0) return `${name}: ${counts}`;
  return [
    `${name}: ${counts}; what does not hold:`,
    ...faults.map((fault) => `  ${fault}`),
    `replay it: npm run sim -- ${killAt === undefined ? `--from ${seed} --count 1` : `--kill-at ${killAt}`} --log`,
  ].join("\n");
}
