import { bytesToHex } from "@noble/hashes/utils.js";
import sql from "sql-template-tag";
import { sessionIdentifierPreimage } from "../../protocol/chain/session-identifier.ts";
import { requestedSessions } from "../chain/events.ts";
import type { NetworkReader } from "../chain/reader.ts";
import type { Rebuilder } from "../chain/restore/replay.ts";
import { isKnownTransaction } from "../chain/submit/outbox.ts";
import type { HeldPresign, TreasuryReader } from "../chain/treasury/treasury-reader.ts";
import { bytea, text } from "../platform/store/columns.ts";
import { type Database, readRows } from "../platform/store/database.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import { burnPooledPresigns } from "../presigns/presign-moves.ts";
import { insertPendingPresigns } from "../presigns/request-presigns.ts";

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

interface AdoptHeldOptions {
  readonly database: Database;
  readonly network: string;
  readonly reader: Pick<NetworkReader, "transaction">;
  readonly treasury: Pick<TreasuryReader, "heldPresigns">;
  readonly log: Log;
}

/**
 * Burns the presigns of the pool whose session no longer exists on the chain: the network removes a presign's session
 * when a signature uses it. After the restore of an older copy, such presigns look ready but are not. Returns their
 * number.
 */
export async function burnSpentPresigns({
  database,
  network,
  reader,
  log,
}: {
  readonly database: Database;
  readonly network: string;
  readonly reader: Pick<NetworkReader, "getObjects">;
  readonly log: Log;
}): Promise<number> {
  let burntCount = 0;
  for (let after = FIRST; ; ) {
    const page = await readRows(
      database,
      sql`SELECT id, presign_id AS "presignId" FROM presign
          WHERE network = ${network} AND state IN ('pending', 'ready') AND id > ${after}::uuid
          ORDER BY presign.id LIMIT ${PAGE_COUNT}`,
      { id: text, presignId: text },
    );
    const known = await reader.getObjects(page.map(({ presignId }) => presignId));
    const spent = page.filter(({ presignId }) => !known.has(presignId)).map(({ id }) => id);
    burntCount += await burnPooledPresigns(database, spent);
    const last = page.at(PAGE_COUNT - 1);
    if (last === undefined) break;
    after = last.id;
  }
  log.info({ burntCount }, "removed presigns that the network has used from the pool");
  return burntCount;
}

const PAGE_COUNT = 200;
/** Comes before every row. */
const FIRST = "00000000-0000-0000-0000-000000000000";

/** Finds the rows of presigns that lost transactions requested, and creates missing ones. */
export function createPresignRebuilder(network: string): Rebuilder {
  return {
    kind: "presign",
    async rebuild(db, transaction, { sender }) {
      const sessions = requestedSessions(transaction.events, "PresignRequestEvent");
      if (sessions.length === 0) return { subjectIds: [], unrecoverable: [] };
      const requested = new Set(sessions.map(({ preimage }) => bytesToHex(preimage)));
      const rows = await readRows(
        db,
        sql`SELECT id, session_bytes AS "sessionBytes" FROM presign
            WHERE network = ${network} AND state = 'requested' AND session_bytes IS NOT NULL`,
        { id: text, sessionBytes: bytea },
      );
      const preimageOf = (row: { sessionBytes: Uint8Array }) =>
        bytesToHex(sessionIdentifierPreimage(row.sessionBytes, sender));
      const own = rows.filter((row) => requested.has(preimageOf(row)));
      const known = new Set(own.map(preimageOf));
      const strangers = sessions.filter(({ preimage }) => !known.has(bytesToHex(preimage)));
      const ids = new Set(strangers.map(({ data }) => data.presign_id));
      await insertPendingPresigns(db, network, transaction, (id) => ids.has(id));
      return { subjectIds: own.map(({ id }) => id), unrecoverable: [] };
    },
  };
}
