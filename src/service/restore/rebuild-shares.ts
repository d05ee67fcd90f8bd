import sql from "sql-template-tag";
import { acceptedShares } from "../chain/events.ts";
import type { Rebuilder, Unrecoverable } from "../chain/restore/replay.ts";
import { paidShares } from "../chain/treasury/treasury-events.ts";
import { recordLostShareAcceptance } from "../onboarding/sharing/accept-share.ts";
import { text } from "../platform/store/columns.ts";
import { readRows } from "../platform/store/database.ts";

/**
 * Finds the rows of shares for other users that lost transactions sent. The chain does not name the recipient's user, nor
 * does it have the owner's consent, so the owner of a share without a row shares the dWallet again.
 */
export function createShareRebuilder(): Rebuilder {
  return {
    kind: "share",
    async rebuild(db, { events }) {
      const paid = paidShares(events);
      const references = paid.map(({ reference }) => reference);
      const rows = await readRows(
        db,
        sql`SELECT id FROM dwallet_share WHERE id::text = ANY(${references}::text[])`,
        {
          id: text,
        },
      );
      const known = new Set(rows.map(({ id }) => id));
      const unrecoverable = paid
        .filter(({ reference }) => !known.has(reference))
        .map(({ dwalletId }): Unrecoverable => ({ what: "share", id: dwalletId, reason: WHOSE_SHARE }));
      return { subjectIds: [...known], unrecoverable };
    },
  };
}

const WHOSE_SHARE =
  "its recipient's user and its owner's consent are unknown; the owner calls ShareDWallet again";

/** Restores the acceptances of lost transactions, for shares that have a row. */
export function createShareAcceptanceRebuilder(network: string): Rebuilder {
  return {
    kind: "accept_share",
    async rebuild(db, { events }) {
      const subjectIds: string[] = [];
      for (const accepted of acceptedShares(events)) {
        const id = await recordLostShareAcceptance(db, network, accepted);
        if (id !== undefined) subjectIds.push(id);
      }
      return { subjectIds, unrecoverable: [] };
    },
  };
}
