import sql from "sql-template-tag";
import { requestedSessions } from "../chain/events.ts";
import type { LandedTransaction } from "../chain/operation.ts";
import type { Queryable } from "../store/database.ts";
import { newId } from "../store/ids.ts";
import { execute } from "../store/statements.ts";

/**
 * Inserts rows for presigns that a transaction requested, if `wanted` accepts their object ids and they have no row
 * yet. They become ready when the network has made them. Returns their number.
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
  const curves = found.map(({ data }) => data.curve);
  const algorithms = found.map(({ data }) => data.signature_algorithm);
  const keyIds = found.map(({ data }) => data.dwallet_network_encryption_key_id);
  const presignIds = found.map(({ data }) => data.presign_id);
  return execute(
    db,
    sql`INSERT INTO presign
          (id, network, curve, signature_algorithm, network_encryption_key_id, presign_id, state, tx_digest)
        SELECT id, ${network}, curve, algorithm, key_id, presign_id, 'pending', ${digest}
        FROM unnest(${found.map(newId)}::uuid[], ${curves}::int[], ${algorithms}::int[], ${keyIds}::text[],
                    ${presignIds}::text[]) AS t (id, curve, algorithm, key_id, presign_id)
        ON CONFLICT (network, presign_id) DO NOTHING RETURNING id`,
  );
}
