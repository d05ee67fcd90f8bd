import type { Database } from "../../store/database.ts";
import type { Log } from "../../telemetry/log.ts";
import type { OperationKind } from "../operation.ts";
import { finishOperations } from "../submit/outbox.ts";

/**
 * Looks up the mark of every queued operation on the chain and settles those that have one. Such operations exist after
 * an older copy was restored, because the newer database has already sent them. Returns their number.
 */
export async function adoptOperations({ database, network, kinds, log }: AdoptOptions): Promise<number> {
  let adoptedCount = 0;
  for (const kind of kinds) {
    for (let after = FIRST; ; ) {
      const page = await database.prisma.chainOperation.findMany({
        where: { network, kind: kind.name, state: "queued", id: { gt: after } },
        orderBy: { id: "asc" },
        take: PAGE_COUNT,
        select: { id: true, subjectId: true },
      });
      const subjects = await kind.load(
        database,
        page.map(({ subjectId }) => subjectId),
      );
      for (const { id, subjectId } of page) {
        const subject = subjects.get(subjectId);
        if (subject === undefined || !(await kind.adopt(database, subject, NOT_TRIED))) continue;
        await finishOperations(database, [id]);
        kind.ended?.(subjectId);
        adoptedCount++;
      }
      const last = page.at(PAGE_COUNT - 1);
      if (last === undefined) break;
      after = last.id;
    }
  }
  log.info({ adoptedCount }, "adopted operations that the chain already has");
  return adoptedCount;
}

export interface AdoptOptions {
  readonly database: Database;
  readonly network: string;
  readonly kinds: readonly OperationKind[];
  readonly log: Pick<Log, "info">;
}

const PAGE_COUNT = 100;
/** Sorts before every row's id. */
const FIRST = "00000000-0000-0000-0000-000000000000";

const NOT_TRIED = { reason: "NOT_TRIED", message: "the operation was not tried" };
