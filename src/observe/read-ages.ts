import { readUnsealedAgeMs } from "../audit/read-unsealed.ts";
import type { Config } from "../config/config.ts";
import type { Queryable } from "../store/database.ts";
import type { Ages } from "./age-gauges.ts";

/** The ages that the database knows. Prices that are fixed by configuration have none. */
export function readAges(
  database: Queryable,
  network: string,
  { prices }: Pick<Config["deposits"], "prices">,
): Ages {
  const auditUnsealed = async () => (await readUnsealedAgeMs(database)) / 1000;
  if (prices.sources === undefined) return { auditUnsealed };
  const price = async () => {
    const [row] = await database.query<{ seconds: number | null }>(
      "SELECT extract(epoch FROM now() - min(read_at))::float8 AS seconds FROM coin_price WHERE network = $1",
      [network],
    );
    return row?.seconds ?? undefined;
  };
  return { auditUnsealed, price };
}
