import type { Database, Queryable } from "./database.ts";

/**
 * Returns the database with a check in each transaction: before the work, and again before the commit. A single
 * statement runs in a transaction too. If the check throws, the transaction is rolled back. Prisma's reads are checked
 * before they run. Its other operations throw a TypeError, because they could not be rolled back.
 */
export function guardDatabase(database: Database, check: (db: Queryable) => Promise<void>): Database {
  const transaction: Database["transaction"] = (work) =>
    database.transaction(async (db) => {
      await check(db);
      const result = await work(db);
      await check(db);
      return result;
    });
  const prisma = database.prisma.$extends({
    query: {
      async $allOperations({ operation, args, query }) {
        if (!READS.test(operation)) throw new TypeError(`use SQL on a guarded database, not ${operation}`);
        await check(database);
        return query(args);
      },
    },
  });
  return {
    ...database,
    // An extended client has the same methods except unused ones, such as `$on`.
    prisma: prisma as unknown as Database["prisma"],
    transaction,
    query: (statement, parameters) => transaction((db) => db.query(statement, parameters)),
  };
}

/** Matches the names of Prisma's operations that only read. */
const READS = /^(?:find|count|aggregate|groupBy)/;
