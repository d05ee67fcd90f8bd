import sql from "sql-template-tag";
import { type Columns, text, time } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";
import type { TreasuryFunds } from "./sample-treasury.ts";

/** Reads the recorded balances from `start` up to `end`, the oldest first: at most one per ten minutes. */
export async function readTreasuryHistory(
  db: Queryable,
  network: string,
  { start, end }: { readonly start: Date; readonly end: Date },
): Promise<NotedFunds[]> {
  const rows = await readRows(
    db,
    sql`SELECT taken_at AS time, ika::text AS ika, sui::text AS sui, gas::text AS gas FROM treasury_sample
        WHERE network = ${network} AND taken_at >= ${start} AND taken_at < ${end} ORDER BY taken_at`,
    ROW,
  );
  return rows.map(({ time: at, ika, sui, gas }) => ({
    time: at,
    ...{ ika: BigInt(ika), sui: BigInt(sui), gas: BigInt(gas) },
  }));
}

export interface NotedFunds extends TreasuryFunds {
  readonly time: Date;
}

interface Row {
  readonly time: Date;
  readonly ika: string;
  readonly sui: string;
  readonly gas: string;
}

const ROW: Columns<Row> = { time, ika: text, sui: text, gas: text };
