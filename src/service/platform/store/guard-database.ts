import type { Database, Queryable } from "./database.ts";

/**
 * Returns the database with a check in each transaction: before the work, and again before the commit. A single
 * statement runs in a transaction too. If the check throws, the transaction is rolled back. Prisma's operations are
 * checked only before they run, so use them for reads.
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
      async $allOperations({ args, query }) {
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
