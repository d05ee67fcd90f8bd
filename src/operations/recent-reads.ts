import { raw } from "sql-template-tag";
import { RecentMap } from "../coordination/recent-map.ts";
import type { Database, Queryable } from "../store/database.ts";
import { execute } from "../store/statements.ts";

/**
 * Creates a cache of costly queries. A result is reused while it is fresh, concurrent callers of the same query share
 * one run, and queries run one after another. So they keep at most one database connection of this process busy,
 * however many callers ask.
 */
export function createRecentReads(
  database: Pick<Database, "transaction">,
  { freshMs = 2_000, timeoutMs = 5_000, now = () => performance.now() }: RecentReadsOptions = {},
): RecentReads {
  const recent = new RecentMap<string, { readonly result: Promise<unknown>; freshUntilMs: number }>(
    KEPT_COUNT,
  );
  let last: Promise<unknown> = Promise.resolve();
  return {
    read<T>(name: string, work: (db: Queryable) => Promise<T>): Promise<T> {
      const known = recent.get(name);
      if (known !== undefined && now() < known.freshUntilMs) return known.result as Promise<T>;
      const result = last.then(() =>
        database.transaction(async (db) => {
          await execute(db, raw(`SET LOCAL statement_timeout = ${timeoutMs}`));
          return work(db);
        }),
      );
      const entry = { result, freshUntilMs: Number.POSITIVE_INFINITY };
      recent.set(name, entry);
      last = result.then(
        () => {
          entry.freshUntilMs = now() + freshMs;
        },
        () => recent.delete(name),
      );
      return result;
    },
  };
}

export interface RecentReadsOptions {
  /** The time for which a result is reused. Default 2 s. */
  readonly freshMs?: number;
  /** The time limit of a statement. Default 5 s. */
  readonly timeoutMs?: number;
  /** A monotonic time in milliseconds. Default: the clock of the process. */
  readonly now?: () => number;
}

/** Reads figures from the database. */
export interface RecentReads {
  /**
   * `name` identifies the query and everything that its result depends on. Throws the errors of `work`, and does not
   * cache them.
   */
  read<T>(name: string, work: (db: Queryable) => Promise<T>): Promise<T>;
}

const KEPT_COUNT = 64;
