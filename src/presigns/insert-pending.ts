import { requestedSessions } from "../chain/events.ts";
import type { LandedTransaction } from "../chain/operation.ts";
import type { Queryable } from "../store/database.ts";
import { newId } from "../store/ids.ts";

/**
 * Makes rows for presigns that a transaction requested: all that `wanted` accepts by their object ids and that have no
 * row. They become ready when the network has made them. Returns how many.
 */
export async function insertPendingPresigns(
  db: Queryable,
  network: string,
  { digest, events }: LandedTransaction,
  wanted: (presignId: string) => boolean,
): Promise<number> {
  const found = requestedSessions(events, "PresignRequestEvent").filter(({ data }) =>
    wanted(data.presign_id),
  );
  const inserted = await db.query(
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
