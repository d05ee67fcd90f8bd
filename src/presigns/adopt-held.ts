import { requestedSessions } from "../chain/events.ts";
import { isKnownTransaction } from "../chain/outbox.ts";
import type { NetworkReader } from "../chain/reader.ts";
import type { HeldPresign, TreasuryReader } from "../chain/treasury-reader.ts";
import type { Database } from "../store/database.ts";
import { newId } from "../store/ids.ts";

/** What adopting needs. */
export interface AdoptHeldOptions {
  readonly database: Database;
  readonly network: string;
  readonly reader: Pick<NetworkReader, "transaction">;
  readonly treasury: Pick<TreasuryReader, "heldPresigns">;
  readonly log: { info(fields: object, message: string): void };
}

/**
 * Takes presigns into the pool that the Treasury has paid for and no row knows: those that another database asked for,
 * or this one before an older copy of it was restored. What this database asked for itself comes by its own way.
 */
export async function adoptHeldPresigns(options: AdoptHeldOptions): Promise<void> {
  const { database, network, reader, treasury, log } = options;
  const held = await treasury.heldPresigns();
  const rows = await database.query<{ presignId: string }>(
    `SELECT presign_id AS "presignId" FROM presign WHERE network = $1 AND presign_id = ANY($2::text[])`,
    [network, held.map(({ presignId }) => presignId)],
  );
  const known = new Set(rows.map(({ presignId }) => presignId));
  const unknown = new Map<string, HeldPresign[]>();
  for (const presign of held) {
    if (known.has(presign.presignId)) continue;
    unknown.set(presign.digest, [...(unknown.get(presign.digest) ?? []), presign]);
  }
  let adoptedCount = 0;
  for (const [digest, presigns] of unknown) {
    if (await isKnownTransaction(database, digest)) continue;
    const outcome = await reader.transaction(digest);
    if (outcome?.kind !== "landed") continue;
    adoptedCount += await insert(presigns, outcome.transaction);
  }
  if (adoptedCount > 0)
    log.info({ adoptedCount }, "presigns that the Treasury holds were taken into the pool");

  async function insert(
    presigns: readonly HeldPresign[],
    { digest, events }: { digest: string; events: Parameters<typeof requestedSessions>[0] },
  ): Promise<number> {
    const wanted = new Set(presigns.map(({ presignId }) => presignId));
    const found = requestedSessions(events, "PresignRequestEvent").filter(({ data }) =>
      wanted.has(data.presign_id),
    );
    const inserted = await database.query(
      `INSERT INTO presign (id, network, curve, signature_algorithm, network_encryption_key_id, presign_id, state, tx_digest)
       SELECT id, $1, curve, algorithm, key_id, presign_id, 'pending', $7
       FROM unnest($2::uuid[], $3::int[], $4::int[], $5::text[], $6::text[])
         AS t (id, curve, algorithm, key_id, presign_id)
       ON CONFLICT (network, presign_id) DO NOTHING RETURNING id`,
      [
        network,
        found.map(newId),
        found.map(({ data }) => data.curve),
        found.map(({ data }) => data.signature_algorithm),
        found.map(({ data }) => data.dwallet_network_encryption_key_id),
        found.map(({ data }) => data.presign_id),
        digest,
      ],
    );
    return inserted.length;
  }
}
