import sql from "sql-template-tag";
import { number, text, time } from "../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../platform/store/database.ts";
import type { LedgerDifference } from "./verify-ledger.ts";

/** Stores the result of a verification that has just ended. Replaces the previous result. */
export async function storeVerification(
  db: Queryable,
  differences: readonly LedgerDifference[],
): Promise<void> {
  const first = differences.slice(0, STORED_MAX_COUNT).map(({ expected, actual, ...rest }) => ({
    ...rest,
    expected: String(expected),
    actual: String(actual),
  }));
  await execute(
    db,
    sql`INSERT INTO ledger_verification (id, verified_at, difference_count, differences)
        VALUES (1, clock_timestamp(), ${differences.length}, ${JSON.stringify(first)})
        ON CONFLICT (id) DO UPDATE SET verified_at = excluded.verified_at,
          difference_count = excluded.difference_count, differences = excluded.differences`,
  );
}

/** Reads the result of the last verification. Returns undefined before the first one. */
export async function readVerification(db: Queryable): Promise<LastVerification | undefined> {
  const [row] = await readRows(
    db,
    sql`SELECT verified_at AS "verifiedAt", difference_count AS "differenceCount", differences
        FROM ledger_verification`,
    { verifiedAt: time, differenceCount: number, differences: text },
  );
  if (row === undefined) return undefined;
  const stored = JSON.parse(row.differences) as StoredDifference[];
  const differences = stored.map((each) => ({
    ...each,
    expected: BigInt(each.expected),
    actual: BigInt(each.actual),
  }));
  return { ...row, differences };
}

/** The result of a verification. */
export interface LastVerification {
  readonly verifiedAt: Date;
  readonly differenceCount: number;
  /** The first 20. */
  readonly differences: readonly LedgerDifference[];
}

const STORED_MAX_COUNT = 20;

/** JSON has no 64-bit integers. */
interface StoredDifference extends Pick<LedgerDifference, "kind" | "subject"> {
  readonly expected: string;
  readonly actual: string;
}
