import sql from "sql-template-tag";
import { text } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";

/** Writes the user's signature of an accepted share again. Returns the dWallet's row, or undefined where it is not known. */
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
