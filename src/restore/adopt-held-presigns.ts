import sql from "sql-template-tag";
import type { NetworkReader } from "../chain/reader.ts";
import { isKnownTransaction } from "../chain/submit/transaction-outcome.ts";
import type { HeldPresign, TreasuryReader } from "../chain/treasury/treasury-reader.ts";
import { insertPendingPresigns } from "../presigns/insert-pending.ts";
import { text } from "../store/columns.ts";
import type { Database } from "../store/database.ts";
import { readRows } from "../store/statements.ts";
import type { Log } from "../telemetry/log.ts";

/**
 * Adds presigns to the pool that the Treasury has paid for and that have no row, because another database requested
 * them, or this one before an older copy was restored. Presigns that this database requested arrive through the
 * settler. Returns their number.
 */
export async function adoptHeldPresigns(options: AdoptHeldOptions): Promise<number> {
  const { database, network, reader, treasury, log } = options;
  const held = await treasury.heldPresigns();
  const heldIds = held.map(({ presignId }) => presignId);
  const rows = await readRows(
    database,
    sql`SELECT presign_id AS "presignId" FROM presign WHERE network = ${network} AND presign_id = ANY(${heldIds}::text[])`,
    { presignId: text },
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
    const wanted = new Set(presigns.map(({ presignId }) => presignId));
    adoptedCount += await insertPendingPresigns(database, network, outcome.transaction, (id) =>
      wanted.has(id),
    );
  }
  if (adoptedCount > 0) log.info({ adoptedCount }, "added presigns that the Treasury holds to the pool");
  return adoptedCount;
}

export interface AdoptHeldOptions {
  readonly database: Database;
  readonly network: string;
  readonly reader: Pick<NetworkReader, "transaction">;
  readonly treasury: Pick<TreasuryReader, "heldPresigns">;
  readonly log: Pick<Log, "info">;
}
