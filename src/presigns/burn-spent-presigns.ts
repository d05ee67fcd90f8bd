import type { NetworkReader } from "../chain/reader.ts";
import type { Database } from "../store/database.ts";

/** What checking the pool needs. */
export interface BurnOptions {
  readonly database: Database;
  readonly network: string;
  readonly reader: Pick<NetworkReader, "getObjects">;
  readonly log: { info(fields: object, message: string): void };
}

const PAGE_COUNT = 200;
/** Comes before every row. */
const FIRST = "00000000-0000-0000-0000-000000000000";

/**
 * Burns the presigns of the pool that the chain has no session of any more: the network takes a presign's session away
 * when a signature is asked for with it. After an older copy of the database was restored, they look ready and are not. Returns how many.
 */
export async function burnSpentPresigns({ database, network, reader, log }: BurnOptions): Promise<number> {
  let burntCount = 0;
  for (let after = FIRST; ; ) {
    const page = await database.query<{ id: string; presignId: string }>(
      `SELECT id, presign_id AS "presignId" FROM presign
       WHERE network = $1 AND state IN ('pending', 'ready') AND id > $2::uuid ORDER BY presign.id LIMIT $3`,
      [network, after, PAGE_COUNT],
    );
    const known = await reader.getObjects(page.map(({ presignId }) => presignId));
    const spent = page.filter(({ presignId }) => !known.has(presignId)).map(({ id }) => id);
    const burnt = await database.query(
      `UPDATE presign SET state = 'burnt', updated_at = now() WHERE id = ANY($1::uuid[]) AND state IN ('pending', 'ready') RETURNING id`,
      [spent],
    );
    burntCount += burnt.length;
    const last = page.at(PAGE_COUNT - 1);
    if (last === undefined) break;
    after = last.id;
  }
  log.info({ burntCount }, "presigns that the network has used since were taken out of the pool");
  return burntCount;
}
