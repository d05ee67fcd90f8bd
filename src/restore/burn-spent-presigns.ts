import sql from "sql-template-tag";
import type { NetworkReader } from "../chain/reader.ts";
import { burnPooledPresigns } from "../presigns/lost-presigns.ts";
import { text } from "../store/columns.ts";
import type { Database } from "../store/database.ts";
import { readRows } from "../store/statements.ts";
import type { Log } from "../telemetry/log.ts";

/**
 * Burns the presigns of the pool whose session no longer exists on the chain: the network removes a presign's session
 * when a signature uses it. After the restore of an older copy, such presigns look ready but are not. Returns their
 * number.
 */
export async function burnSpentPresigns({ database, network, reader, log }: BurnOptions): Promise<number> {
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

export interface BurnOptions {
  readonly database: Database;
  readonly network: string;
  readonly reader: Pick<NetworkReader, "getObjects">;
  readonly log: Pick<Log, "info">;
}

const PAGE_COUNT = 200;
/** Comes before every row. */
const FIRST = "00000000-0000-0000-0000-000000000000";
