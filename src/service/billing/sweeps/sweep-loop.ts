import sql from "sql-template-tag";
import type { Signals } from "../../platform/coordination/signals.ts";
import { topics } from "../../platform/coordination/topics.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../../platform/lifecycle/background-loop.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import { text } from "../../platform/store/columns.ts";
import { type Database, execute, readRows } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import { type CoinReader, inspectCoins, readSweeps, type SweepSubject } from "./inspect-coins.ts";
import { MAX_COIN_COUNT, type QueueSweepsOptions, queueSweeps } from "./queue-sweeps.ts";

/** Creates a loop that queues sweeps of credited coins, and frees the coins of refused sweeps. */
export function createSweepLoop(options: SweepLoopOptions): BackgroundLoop {
  const { destination, signals, network, intervalMs, clock, log } = options;
  return createBackgroundLoop({ name: "sweeps", intervalMs, clock, log, pass });

  async function pass(): Promise<false> {
    await releaseCoins(options);
    if (destination === undefined) return false;
    const queuedCount = await queueSweeps({ ...options, destination, maxCoinCount: MAX_COIN_COUNT });
    if (queuedCount > 0) signals.notify(topics.outbox(network));
    return false;
  }
}

interface SweepLoopOptions extends Omit<QueueSweepsOptions, "destination" | "maxCoinCount"> {
  /** Undefined: the loop queues no new sweeps. */
  readonly destination: string | undefined;
  readonly reader: CoinReader;
  readonly signals: Signals;
  /** The interval between checks of the credited coins. */
  readonly intervalMs: number;
  readonly clock: Clock;
}

/**
 * Inspects the coins of refused sweeps and marks these as failed. A coin that the deposit address still owns becomes
 * free for another sweep. Any other coin stays with the failed sweep. A sweep with a coin that this fullnode does not
 * show keeps its state, and so does one while the address balance is less than it and the queued sweeps withdraw.
 */
export async function releaseCoins({ database, network, reader, log }: ReleaseCoinsOptions): Promise<void> {
  const refused = await database.prisma.sweep.findMany({
    where: { network, state: "refused" },
    orderBy: { id: "asc" },
    take: PAGE_COUNT,
    select: { id: true },
  });
  const sweeps = await readSweeps(
    database,
    refused.map(({ id }) => id),
  );
  const hasFunds = async (sweep: SweepSubject): Promise<boolean> => {
    if (await coversSweep({ database, reader }, sweep)) return true;
    log.error(
      { sweep: sweep.id, address: sweep.address },
      "an address balance lacks the funds of a refused sweep",
    );
    return false;
  };
  for (const sweep of sweeps.values()) {
    const fates = await inspectCoins(reader, sweep.coins);
    if ([...fates.values()].some(({ kind }) => kind === "unknown")) continue;
    if (sweep.funds > 0n && !(await hasFunds(sweep))) continue;
    const free: FreeCoin[] = [];
    const lost: string[] = [];
    for (const { objectId, version, digest } of sweep.coins) {
      const fate = fates.get(objectId);
      if (fate?.kind === "there") free.push({ objectId, version, digest, was: version });
      // A transaction that failed on the chain wrote a new version of the coin and left it with its owner.
      else if (fate?.kind === "used" && fate.ref && fate.owner === sweep.address)
        free.push({ ...fate.ref, was: version });
      else lost.push(objectId);
    }
    await writeEnd(database, network, sweep, free);
    if (lost.length > 0)
      log.error(
        { sweep: sweep.id, address: sweep.address, coins: lost },
        "another process moved coins of a sweep",
      );
  }
}

/** Returns whether the address balance covers the sweep and the queued sweeps, which may not have landed yet. */
async function coversSweep(
  { database, reader }: Pick<ReleaseCoinsOptions, "database" | "reader">,
  { address, coinType, funds }: SweepSubject,
): Promise<boolean> {
  // The queued sweeps first: one that lands in between only makes the answer no.
  const [queued] = await readRows(
    database,
    sql`SELECT coalesce(sum(c.amount), 0)::text AS amount FROM deposit_coin c JOIN sweep s ON s.id = c.sweep_id
        WHERE s.address = ${address} AND s.coin_type = ${coinType} AND s.state = 'queued' AND c.in_address_balance`,
    { amount: text },
  );
  const available = await reader.addressBalance(address, coinType);
  return available >= funds + BigInt(queued?.amount ?? 0);
}

interface ReleaseCoinsOptions {
  readonly database: Database;
  readonly network: string;
  readonly reader: CoinReader;
  readonly log: Log;
}

const PAGE_COUNT = 100;

interface FreeCoin {
  readonly objectId: string;
  readonly version: string;
  readonly digest: string;
  /** The coin's version in the database. */
  readonly was: string;
}

async function writeEnd(
  database: Database,
  network: string,
  { id }: SweepSubject,
  free: readonly FreeCoin[],
): Promise<void> {
  await database.transaction(async (db) => {
    const endedCount = await execute(
      db,
      sql`UPDATE sweep SET state = 'failed', updated_at = now() WHERE id = ${id} AND state = 'refused' RETURNING id`,
    );
    if (endedCount === 0) return;
    const objectIds = free.map(({ objectId }) => objectId);
    const known = free.map(({ was }) => was);
    const versions = free.map(({ version }) => version);
    const digests = free.map(({ digest }) => digest);
    await execute(
      db,
      sql`UPDATE deposit_coin c SET sweep_id = NULL, version = free.version, digest = free.digest
       FROM unnest(${objectIds}::text[], ${known}::text[], ${versions}::text[], ${digests}::text[])
         AS free (object_id, was, version, digest)
       WHERE c.network = ${network} AND c.sweep_id = ${id} AND c.object_id = free.object_id
         AND c.version = free.was`,
    );
    await execute(
      db,
      sql`UPDATE deposit_coin SET sweep_id = NULL WHERE sweep_id = ${id} AND in_address_balance`,
    );
  });
}
