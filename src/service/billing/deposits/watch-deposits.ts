import sql from "sql-template-tag";
import { idleRestMs, type Signals } from "../../platform/coordination/signals.ts";
import { topics } from "../../platform/coordination/topics.ts";
import {
  type BackgroundLoop,
  createBackgroundLoop,
  type PassResult,
} from "../../platform/lifecycle/background-loop.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import { number, text, time } from "../../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import { IN_USE_MS } from "./checkpoint-follower.ts";
import { creditableProjects, creditDeposits } from "./credit-deposits.ts";
import type { Deposits } from "./deposits.ts";
import type { WatchedAddress } from "./record-payment.ts";
import { deriveDepositKey } from "./request-address.ts";
import { scanAddress } from "./scan-address.ts";

/**
 * Creates a loop that scans all deposit addresses in turn, on any number of replicas. The database holds the schedule,
 * so it continues after a restart. If a scan is interrupted, another replica repeats it a minute later.
 */
export function createDepositWatcher(
  deposits: Deposits,
  { pollMs, signals, clock, log }: WatchOptions,
): BackgroundLoop {
  const { database, network } = deposits;
  const intervalMs = Math.min(pollMs, 1_000);
  return createBackgroundLoop({
    name: "deposits",
    intervalMs,
    clock,
    log,
    wakeOn: (wake) => signals.subscribe(topics.depositDue(network), wake),
    pass,
  });

  async function pass(signal: AbortSignal): Promise<PassResult> {
    const dueInMs = await nextDueInMs(database, network);
    const restMs = idleRestMs(signals, intervalMs);
    if (dueInMs === undefined) return { restMs };
    if (dueInMs > 0) return { restMs: Math.min(dueInMs, restMs) };
    const looks = await Promise.allSettled(Array.from({ length: LOOKS_AT_ONCE }, () => lookInTurn(signal)));
    for (const look of looks) if (look.status === "rejected") throw look.reason;
    return looks.some((look) => look.status === "fulfilled" && look.value);
  }

  /** Scans one address after the other. Returns true if more may be due. */
  async function lookInTurn(signal: AbortSignal): Promise<boolean> {
    for (let count = 0; count < PASS_MAX_COUNT && !signal.aborted; count++) {
      const claimed = await claim(database, network);
      if (claimed === undefined) return false;
      const { creditedCount, foundCount, hasMore, unexplained } = await scanAddress(deposits, claimed);
      if (unexplained.length > 0)
        log.error(
          { projectId: claimed.projectId, address: claimed.address, coinTypes: unexplained },
          "an address balance is more than its payments; declare the missing transactions",
        );
      if (creditedCount > 0) log.info({ projectId: claimed.projectId, creditedCount }, "deposits credited");
      await release(database, claimed, { hasFound: foundCount > 0, hasMore, pollMs });
    }
    return true;
  }
}

interface WatchOptions {
  /** The interval between scans of an active address. */
  readonly pollMs: number;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
}

/** The number of concurrent scans, so that one slow reply does not delay the others. */
const LOOKS_AT_ONCE = 8;
/** The maximum number of addresses that each scanner takes in one pass. The loop then checks whether to stop. */
const PASS_MAX_COUNT = 50;
/** The time in which no other replica scans a claimed address. */
const LOOK_MS = 60_000;
/** The factor by which a quiet own address is scanned less often while checkpoints do not announce payments. */
const QUIET_FACTOR = 10;
/**
 * The mean interval between scans of any other quiet address. Ten thousand of them with two accepted coins cost the
 * fullnode three calls a second.
 */
const QUIET_MS = 7_200_000;
/**
 * The number of a project's references that are scanned at the full rate. Beyond it, the rate per reference falls, so
 * that no project starves the others of scanners.
 */
const REFERENCES_AT_FULL_PACE = 50;

interface Claimed extends WatchedAddress {
  /** The time to which the claim moved the next scan. */
  readonly dueAt: Date;
}

/** Returns the time until the next scan, at most 0 if one is due; undefined if there is no address. */
async function nextDueInMs(db: Queryable, network: string): Promise<number | undefined> {
  const [next] = await readRows(
    db,
    sql`SELECT (extract(epoch FROM due_at - now()) * 1000)::float8 AS "inMs" FROM deposit_address
        WHERE network = ${network} ORDER BY due_at LIMIT 1`,
    { inMs: number },
  );
  return next?.inMs;
}

async function claim(db: Queryable, network: string): Promise<Claimed | undefined> {
  const [claimed] = await readRows(
    db,
    sql`UPDATE deposit_address SET due_at = now() + ${LOOK_MS} * interval '1 millisecond'
     WHERE address = (
       SELECT address FROM deposit_address WHERE network = ${network} AND due_at <= now()
       ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
     ) RETURNING address, project_id AS "projectId", due_at AS "dueAt"`,
    { address: text, projectId: text, dueAt: time },
  );
  return claimed;
}

/**
 * Schedules the next scan. Jitter spreads quiet addresses that were created at the same time. Keeps the schedule if a
 * caller requested the address or a checkpoint announced a payment meanwhile, because that scan is still due. A payment
 * makes an address active unless checkpoints announce the next one.
 */
async function release(
  db: Queryable,
  { address, dueAt }: Claimed,
  { hasFound, hasMore, pollMs }: { hasFound: boolean; hasMore: boolean; pollMs: number },
): Promise<void> {
  await execute(
    db,
    sql`UPDATE deposit_address a SET wanted_at = CASE WHEN w.is_busy THEN now() ELSE a.wanted_at END,
       due_at = now() + interval '1 millisecond' * CASE
         WHEN ${hasMore} THEN 0
         WHEN w.is_active THEN w.paced_ms
         WHEN a.reference = '' AND NOT w.is_announced THEN ${pollMs}::float8 * ${QUIET_FACTOR}::int
         ELSE greatest(${QUIET_MS}::float8, w.paced_ms) * (0.5 + random()) END
     FROM (
       SELECT o.address, b.is_busy, f.network IS NOT NULL AS is_announced,
         b.is_busy OR o.wanted_at > now() - ${IN_USE_MS} * interval '1 millisecond' AS is_active,
         ${pollMs}::float8 * CASE WHEN o.reference = '' THEN 1
           ELSE greatest(1, c.count / ${REFERENCES_AT_FULL_PACE}::float8) END AS paced_ms
       FROM deposit_address o
       LEFT JOIN deposit_reference_count c ON c.project_id = o.project_id
       LEFT JOIN checkpoint_follower f ON f.network = o.network AND f.is_following
       CROSS JOIN LATERAL (SELECT ${hasFound} AND f.network IS NULL AS is_busy) b
       WHERE o.address = ${address}
     ) w WHERE a.address = w.address AND a.due_at = ${dueAt}`,
  );
}

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

/**
 * Starts to watch every project's own deposit address on the network, including projects whose request for an address
 * is missing in a restored database. Only a project knows its lost references. The service watches their addresses
 * again, and finds their coins, once the project requests them.
 */
export async function watchEveryProject(
  db: Queryable,
  { network, masterSeed }: Pick<Deposits, "network" | "masterSeed">,
): Promise<void> {
  if (masterSeed === undefined) throw new Error("this process has no master seed");
  const projects = await readRows(
    db,
    sql`SELECT p.id FROM project p WHERE p.network = ${network}
       AND NOT EXISTS (SELECT 1 FROM deposit_address a WHERE a.project_id = p.id AND a.network = p.network
         AND a.reference = '')`,
    { id: text },
  );
  const ids = projects.map(({ id }) => id);
  const addresses = ids.map((id) =>
    deriveDepositKey(masterSeed, network, { projectId: id, reference: "" }).toSuiAddress(),
  );
  await execute(
    db,
    sql`INSERT INTO deposit_address (address, project_id, network)
     SELECT address, project_id, ${network} FROM unnest(${addresses}::text[], ${ids}::uuid[]) AS t (address, project_id)
     ON CONFLICT DO NOTHING`,
  );
}
