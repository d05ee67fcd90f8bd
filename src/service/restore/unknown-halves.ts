import sql from "sql-template-tag";
import type { Unrecoverable } from "../chain/restore/replay.ts";
import type { KeptHalf } from "../chain/treasury/read-halves.ts";
import { text } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";

/**
 * Returns the halves that the Treasury can still complete and that no request of the database has. Their requests are not
 * restored: the chain records neither who gave a half nor until when, so nothing could tell whether its key or session
 * was revoked. Nothing releases them, and their owners end them.
 */
export async function findUnknownHalves(
  db: Queryable,
  network: string,
  halves: readonly KeptHalf[],
): Promise<Unrecoverable[]> {
  const ids = halves.map(({ presignId }) => presignId);
  const known = await readRows(
    db,
    sql`SELECT p.presign_id AS "presignId" FROM sign_request r JOIN presign p ON p.id = r.presign_id
        WHERE p.network = ${network} AND p.presign_id = ANY(${ids}::text[])
          AND r.hold_state IN ('verifying', 'held', 'released', 'ended')`,
    { presignId: text },
  );
  const knownIds = new Set(known.map(({ presignId }) => presignId));
  return halves
    .filter(({ presignId }) => !knownIds.has(presignId))
    .map(({ dwalletId, presignId, lastEpoch }) => ({
      what: "held half",
      id: presignId,
      reason: `of the dWallet ${dwalletId}: nothing releases it, and the Treasury keeps it until epoch ${lastEpoch} has ended; the owner ends it before by taking the dWallet out`,
    }));
}
