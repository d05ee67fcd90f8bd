import { type BackgroundLoop, createBackgroundLoop } from "../../lifecycle/background-loop.ts";
import { creditableProjects, creditDeposits } from "./credit-deposits.ts";
import type { Deposits } from "./deposits.ts";
import type { WatchOptions } from "./watch-deposits.ts";

/**
 * Creates a loop that credits waiting deposits once their coins have a fresh price, without reading the chain. Any
 * number of replicas may run it.
 */
export function createWaitingCredit(
  deposits: Deposits,
  { clock, log }: Pick<WatchOptions, "clock" | "log">,
): BackgroundLoop {
  const { database } = deposits;
  return createBackgroundLoop({
    name: "waiting deposits",
    intervalMs: INTERVAL_MS,
    clock,
    log,
    async pass(signal) {
      const projectIds = await creditableProjects(database, deposits, PROJECTS_PER_PASS);
      for (const projectId of projectIds) {
        if (signal.aborted) return false;
        const creditedCount = await creditDeposits(database, { actor: "system" }, deposits, projectId);
        if (creditedCount > 0) log.info({ projectId, creditedCount }, "deposits credited");
      }
      return projectIds.length === PROJECTS_PER_PASS;
    },
  });
}

const INTERVAL_MS = 10_000;
const PROJECTS_PER_PASS = 100;
