import type { Database } from "../../store/database.ts";
import type { Log } from "../../telemetry/log.ts";
import { type CoinReader, inspectCoins } from "./inspect-coins.ts";
import { readSweeps, type SweepSubject } from "./sweep-rows.ts";

export interface ReleaseCoinsOptions {
  readonly database: Database;
  readonly network: string;
  readonly reader: CoinReader;
  readonly log: Pick<Log, "error">;
}

const PAGE_COUNT = 100;

/**
 * Inspects the coins of refused sweeps: refused -> failed. A coin that the deposit address still owns becomes free for
 * another sweep. Any other coin stays with the failed sweep. A sweep with a coin that this fullnode does not show keeps
 * its state.
 */
export async function releaseCoins({ database, network, reader, log }: ReleaseCoinsOptions): Promise<void> {
  const refused = await database.query<{ id: string }>(
    "SELECT id FROM sweep WHERE network = $1 AND state = 'refused' ORDER BY id LIMIT $2",
    [network, PAGE_COUNT],
  );
  const sweeps = await readSweeps(
    database,
    refused.map(({ id }) => id),
  );
  for (const sweep of sweeps.values()) {
    const fates = await inspectCoins(reader, sweep.coins);
    if ([...fates.values()].some(({ kind }) => kind === "unknown")) continue;
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

interface FreeCoin {
  readonly objectId: string;
  readonly version: string;
  readonly digest: string;
  /** The version that the row has. */
  readonly was: string;
}

async function writeEnd(
  database: Database,
  network: string,
  { id }: SweepSubject,
  free: readonly FreeCoin[],
): Promise<void> {
  await database.transaction(async (db) => {
    const ended = await db.query(
      "UPDATE sweep SET state = 'failed', updated_at = now() WHERE id = $1 AND state = 'refused' RETURNING id",
      [id],
    );
    if (ended.length === 0) return;
    await db.query(
      `UPDATE deposit_coin c SET sweep_id = NULL, version = free.version, digest = free.digest
       FROM unnest($3::text[], $4::text[], $5::text[], $6::text[]) AS free (object_id, was, version, digest)
       WHERE c.network = $1 AND c.sweep_id = $2 AND c.object_id = free.object_id AND c.version = free.was`,
      [
        network,
        id,
        free.map(({ objectId }) => objectId),
        free.map(({ was }) => was),
        free.map(({ version }) => version),
        free.map(({ digest }) => digest),
      ],
    );
  });
}
