import sql from "sql-template-tag";
import { parsePresignSession } from "../../protocol/chain/chain-objects.ts";
import { MixedUpAnswerError } from "../../protocol/chain/read-errors.ts";
import { PRESIGN_VERSION, presignVersion } from "../../protocol/presign-version.ts";
import type { OpenSession, SessionKind } from "../chain/session.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import { text } from "../platform/store/columns.ts";
import { type Database, execute, readRows } from "../platform/store/database.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import { poolMoves } from "./presign-moves.ts";

/**
 * Waits for presigns: pending -> ready with its bytes, or burnt if the network rejects it or makes a version that the
 * service cannot sign with. A session of another presign or algorithm, or of a single dWallet, changes nothing, and
 * `settle` throws MixedUpAnswerError.
 */
export function createPresignSession({ network, signals, log }: PresignSessionOptions): SessionKind {
  return {
    name: "presign",
    requestedBy: "presign",
    open: (database, { after, limit }) =>
      readRows<OpenSession>(
        database,
        sql`SELECT id AS "subjectId", presign_id AS "objectId" FROM presign
            WHERE network = ${network} AND state = 'pending' AND id > ${after}::uuid ORDER BY presign.id LIMIT ${limit}`,
        { subjectId: text, objectId: text },
      ),
    async settle(database, { subjectId, objectId }, content) {
      const session = parsePresignSession(content);
      const { id: presignId, dwalletId, state } = session;
      if (state.kind === "Requested") return false;
      if (presignId !== objectId || dwalletId !== undefined) throw anothers(objectId);
      const version = state.kind === "Completed" ? presignVersion(state.output) : undefined;
      const output = state.kind === "Completed" && version === PRESIGN_VERSION ? state.output : null;
      const { fill, refuse } = poolMoves;
      const movedCount = await execute(
        database,
        output === null ? refuse(subjectId, session) : fill(subjectId, session, output),
      );
      if (movedCount === 0 && (await isPending(database, subjectId))) throw anothers(objectId);
      if (version !== undefined && output === null)
        log.warn({ presignId, version }, "the network created a presign of an unsupported version");
      else if (output === null) log.warn({ presignId }, "the network refused to create a presign");
      signals.notify(output === null ? topics.presignWanted(network) : topics.presignReady(network));
      return true;
    },
  };
}

export interface PresignSessionOptions {
  readonly network: string;
  readonly signals: Pick<Signals, "notify">;
  readonly log: Pick<Log, "warn">;
}

async function isPending({ prisma }: Pick<Database, "prisma">, id: string): Promise<boolean> {
  return (await prisma.presign.count({ where: { id, state: "pending" } })) > 0;
}

function anothers(objectId: string): MixedUpAnswerError {
  return new MixedUpAnswerError("session", `the session of presign ${objectId} is another presign's`);
}
