import sql from "sql-template-tag";
import { parsePresignSession } from "../../protocol/chain/chain-objects.ts";
import { MixedUpAnswerError } from "../../protocol/chain/read-errors.ts";
import { PRESIGN_VERSION, presignVersion } from "../../protocol/presign-version.ts";
import { readOpenSessions, type SessionKind } from "../chain/session.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import { batchStatements } from "../platform/store/batch-statements.ts";
import { text } from "../platform/store/columns.ts";
import { type Database, execute, readRows } from "../platform/store/database.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import { type MadePresign, poolMoves } from "./presign-moves.ts";

/**
 * Waits for presigns: pending -> ready with its bytes, or burnt if the network rejects it or makes a version that the
 * service cannot sign with. A session of another presign or algorithm, or for another dWallet than the row's, changes
 * nothing, and `settle` throws MixedUpAnswerError.
 */
export function createPresignSession({
  network,
  signals,
  log,
}: {
  readonly network: string;
  readonly signals: Signals;
  readonly log: Log;
}): SessionKind {
  return {
    name: "presign",
    requestedBy: "presign",
    open: (database, { after, limit }) =>
      readOpenSessions(
        database,
        sql`SELECT id::text AS "subjectId", presign_id AS "objectId" FROM presign
            WHERE network = ${network} AND state = 'pending' AND id > ${after}::uuid ORDER BY presign.id LIMIT ${limit}`,
      ),
    async settle(database, { subjectId, objectId }, content) {
      const session = parsePresignSession(content);
      const { id: presignId, state } = session;
      if (state.kind === "Requested") return false;
      if (presignId !== objectId) throw anothers(objectId);
      const version = state.kind === "Completed" ? presignVersion(state.output) : undefined;
      const output = state.kind === "Completed" && version === PRESIGN_VERSION ? state.output : null;
      const isMoved =
        output === null
          ? (await execute(database, poolMoves.refuse(subjectId, session))) > 0
          : await fillTogether(database, { id: subjectId, algorithm: session, presign: output });
      if (!isMoved && (await isPending(database, subjectId))) throw anothers(objectId);
      if (version !== undefined && output === null)
        log.warn({ presignId, version }, "the network created a presign of an unsupported version");
      else if (output === null) log.warn({ presignId }, "the network refused to create a presign");
      signals.notify(output === null ? topics.presignWanted(network) : topics.presignReady(network));
      return true;
    },
  };
}

/** Moves pending -> ready. Returns whether it has. Presigns that are ready together share a statement. */
const fillTogether = batchStatements<MadePresign, boolean>({
  subjectOf: () => "",
  async run(db, made) {
    const rows = await readRows(db, poolMoves.fill(made), { id: text });
    const filled = new Set(rows.map(({ id }) => id));
    return made.map(({ id }) => filled.has(id));
  },
});

async function isPending({ prisma }: Database, id: string): Promise<boolean> {
  return (await prisma.presign.count({ where: { id, state: "pending" } })) > 0;
}

function anothers(objectId: string): MixedUpAnswerError {
  return new MixedUpAnswerError("session", `the session of presign ${objectId} is another presign's`);
}
