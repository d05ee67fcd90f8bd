import type { OpenSession, SessionKind } from "../chain/session.ts";
import type { Signals } from "../coordination/signals.ts";
import { topics } from "../coordination/topics.ts";
import { parsePresignSession } from "../protocol/chain-objects.ts";

/** What the kind needs. */
export interface PresignSessionOptions {
  readonly network: string;
  readonly signals: Pick<Signals, "notify">;
  readonly log: { warn(fields: object, message: string): void };
}

/** Waits for presigns: pending -> ready with its bytes, or burnt when the network refuses. */
export function createPresignSession({ network, signals, log }: PresignSessionOptions): SessionKind {
  return {
    name: "presign",
    requestedBy: "presign",
    open: (database, { after, limit }) =>
      database.query<OpenSession>(
        `SELECT id AS "subjectId", presign_id AS "objectId" FROM presign
         WHERE network = $1 AND state = 'pending' AND id > $2::uuid ORDER BY presign.id LIMIT $3`,
        [network, after, limit],
      ),
    async settle(database, { subjectId }, content) {
      const { id: presignId, state } = parsePresignSession(content);
      switch (state.kind) {
        case "Requested":
          return false;
        case "Completed":
          await database.query(
            `UPDATE presign SET state = 'ready', presign = $2, ready_at = now(), updated_at = now()
             WHERE id = $1 AND state = 'pending'`,
            [subjectId, state.output],
          );
          signals.notify(topics.presignReady(network));
          return true;
        case "NetworkRejected":
          log.warn({ presignId }, "the network refused to make a presign");
          await database.query(
            "UPDATE presign SET state = 'burnt', updated_at = now() WHERE id = $1 AND state = 'pending'",
            [subjectId],
          );
          signals.notify(topics.presignWanted(network));
          return true;
      }
    },
  };
}
