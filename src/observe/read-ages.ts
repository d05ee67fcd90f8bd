import sql from "sql-template-tag";
import { readUnsealedAgeMs } from "../audit/read-unsealed.ts";
import type { Config } from "../config/config.ts";
import { nullable, number } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";
import type { Ages } from "./age-gauges.ts";

/** Creates the readers of ages in the database. Fixed prices have no age, nor have deposits that nobody takes. */
export function readAges(
  database: Queryable,
  network: string,
  { prices }: Pick<Config["deposits"], "prices">,
): Ages {
  const auditUnsealed = async () => (await readUnsealedAgeMs(database)) / 1000;
  const depositCheckpoints = async () => {
    const [row] = await readRows(
      database,
      sql`SELECT extract(epoch FROM now() - max(caught_up_at))::float8 AS seconds FROM checkpoint_follower
          WHERE network = ${network}`,
      { seconds: nullable(number) },
    );
    return row?.seconds ?? undefined;
  };
  if (prices.sources === undefined) return { auditUnsealed, depositCheckpoints };
  const price = async () => {
    const [row] = await readRows(
      database,
      sql`SELECT extract(epoch FROM now() - min(read_at))::float8 AS seconds FROM coin_price
          WHERE network = ${network}`,
      { seconds: nullable(number) },
    );
    return row?.seconds ?? undefined;
  };
  return { auditUnsealed, depositCheckpoints, price };
}
