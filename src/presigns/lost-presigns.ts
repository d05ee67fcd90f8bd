import sql from "sql-template-tag";
import { text } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { newId } from "../store/ids.ts";
import { execute, readRows } from "../store/statements.ts";
import type { PresignBucket } from "./bucket.ts";
import { poolMoves } from "./presign-moves.ts";

export interface ChainPresign {
  /** The id of the presign's object. */
  readonly presignId: string;
  readonly presign: Uint8Array;
}

/**
 * Marks the presign of a sign request that the database has lost as held, whatever its state in the database. Inserts
 * it if it is unknown. Returns its row.
 */
export async function holdLostPresign(
  db: Queryable,
  bucket: PresignBucket,
  { presignId, presign }: ChainPresign,
): Promise<string> {
  const { network, curve, signatureAlgorithm, networkEncryptionKeyId } = bucket;
  const [row] = await readRows(
    db,
    sql`INSERT INTO presign
          (id, network, curve, signature_algorithm, network_encryption_key_id, presign_id, presign, state)
        VALUES (${newId()}, ${network}, ${curve}, ${signatureAlgorithm}, ${networkEncryptionKeyId}, ${presignId},
                ${presign}, 'held')
        ${poolMoves.holdLost}
        RETURNING id`,
    { id: text },
  );
  if (row === undefined) throw new Error(`presign ${presignId} was not stored`);
  return row.id;
}

/** Removes presigns that no request holds from the pool. Returns their number. */
export async function burnPooledPresigns(db: Queryable, ids: readonly string[]): Promise<number> {
  return execute(db, poolMoves.withdraw(ids));
}
