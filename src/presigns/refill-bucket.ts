import { type AuditOrigin, writeAuditEvent } from "../audit/audit-event.ts";
import { refuseWhileDraining } from "../chain/network-drain.ts";
import type { Signals } from "../coordination/signals.ts";
import { topics } from "../coordination/topics.ts";
import type { CurveAlgorithm } from "../protocol/algorithms.ts";
import type { Database } from "../store/database.ts";
import { bucketKey } from "./bucket.ts";
import { bucketOf } from "./read-buckets.ts";
import { readDemand } from "./read-demand.ts";
import { awaitPlanner, requestPresigns } from "./request-presigns.ts";

/**
 * Requests presigns for an operator, under the newest network encryption key. Returns the number that was queued: fewer
 * than `count` if more would exceed the high-water mark. Throws NETWORK_DRAINING.
 */
export async function refillBucket(
  deps: RefillBucketDeps,
  origin: AuditOrigin,
  algorithm: CurveAlgorithm,
  count: number,
): Promise<number> {
  const bucket = bucketOf(deps.network, algorithm, await deps.newestNetworkEncryptionKeyId());
  const queuedCount = await deps.database.transaction(async (db) => {
    await awaitPlanner(db, deps.network);
    await refuseWhileDraining(db, deps.network);
    const { readyCount, pendingCount } = (await readDemand(db, deps.network))(bucket);
    const room = Math.max(0, Math.min(count, deps.highWaterCount - readyCount - pendingCount));
    if (room > 0) await requestPresigns(db, bucket, room);
    await writeAuditEvent(db, origin, { action: "presign.refill", subject: `${bucketKey(bucket)} ${room}` });
    return room;
  });
  if (queuedCount > 0) deps.signals.notify(topics.outbox(deps.network));
  return queuedCount;
}

/** Dependencies of {@link refillBucket}. */
export interface RefillBucketDeps {
  readonly database: Pick<Database, "transaction">;
  readonly network: string;
  readonly highWaterCount: number;
  readonly newestNetworkEncryptionKeyId: () => Promise<string>;
  readonly signals: Pick<Signals, "notify">;
}
