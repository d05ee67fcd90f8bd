import { ServiceError } from "../../../src/service/platform/errors/service-error.ts";
import type { Database, Queryable } from "../../../src/service/platform/store/database.ts";

/**
 * Wraps a database for the code under test, so that a test learns when that code has run a statement or ended a
 * transaction, and need not poll. Databases with the same events wake each other's waits.
 */
export function observeDatabase(
  database: Database,
  events: StatementEvents = createStatementEvents(),
): ObservedDatabase {
  const told = <T>(result: Promise<T>): Promise<T> => result.finally(events.tell);
  return {
    ...database,
    query: (...call: Parameters<Queryable["query"]>) => told(database.query(...call)),
    prisma: database.prisma.$extends({
      query: { $allOperations: ({ args, query }) => told(query(args)) },
    }) as unknown as Database["prisma"],
    transaction: (work) => told(database.transaction(work)),
    async until(check) {
      for (;;) {
        const next = events.next();
        const found = await check(database);
        if (found) return found;
        await next;
      }
    },
    async retrying(attempt) {
      const { result } = await this.until(async (db) => {
        try {
          return { result: await attempt(db) };
        } catch (error) {
          if (error instanceof ServiceError && LATER.includes(error.reason)) return undefined;
          throw error;
        }
      });
      return result;
    },
  } as ObservedDatabase;
}

/** Creates the events of one database, or of several. */
export function createStatementEvents(): StatementEvents {
  let waiting: (() => void)[] = [];
  return {
    tell() {
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    next: () => new Promise((resolve) => waiting.push(resolve)),
  };
}

interface StatementEvents {
  tell(): void;
  /** Resolves at the next statement. */
  next(): Promise<void>;
}

/** What the service says of a call that may succeed later. */
const LATER = ["DEADLINE", "PRESIGN_POOL_EMPTY"];

/** A database whose statements are events. */
export interface ObservedDatabase extends Database {
  /**
   * Checks now and after each statement or transaction of the code under test, and resolves with the first truthy
   * result. The check gets the unobserved database. The test's time-out bounds the wait.
   */
  until<T>(check: (db: Database) => Promise<T | false | undefined>): Promise<T>;
  /** Makes a call, and repeats it in the same way while the service answers that it is too early. */
  retrying<T>(attempt: (db: Database) => Promise<T>): Promise<T>;
}
