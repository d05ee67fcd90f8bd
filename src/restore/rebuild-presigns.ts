import { bytesToHex } from "@noble/hashes/utils.js";
import sql from "sql-template-tag";
import { requestedSessions } from "../chain/events.ts";
import type { Rebuilder } from "../chain/restore/replay.ts";
import { insertPendingPresigns } from "../presigns/insert-pending.ts";
import { sessionIdentifierPreimage } from "../protocol/session-identifier.ts";
import { bytea, text } from "../store/columns.ts";
import { readRows } from "../store/statements.ts";

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
