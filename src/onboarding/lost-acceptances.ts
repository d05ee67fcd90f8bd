import sql from "sql-template-tag";
import { text } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";

/** Restores the user's signature of an accepted share. Returns the dWallet's row, or undefined if it is unknown. */
export async function recordLostAcceptance(
  db: Queryable,
  network: string,
  dwalletId: string,
  userOutputSignature: Uint8Array,
): Promise<string | undefined> {
  const [row] = await readRows(
    db,
    sql`UPDATE dwallet SET user_output_signature = ${userOutputSignature}
        WHERE network = ${network} AND object_id = ${dwalletId} RETURNING id`,
    { id: text },
  );
  return row?.id;
}
