import { PrismaPg } from "@prisma/adapter-pg";
import type pg from "pg";
import { PrismaClient } from "../../gen/prisma/client.ts";
import type { Database, Sql } from "./database.ts";

/** What {@link createPoolDatabase} is made of. */
export interface PoolDatabaseParts {
  readonly kind: Database["kind"];
  readonly pool: pg.Pool;
  /** Called once, after the pool has ended. */
  readonly onClosed?: () => Promise<void>;
}

/** The database behind a pool. Owns the pool from here on. */
export function createPoolDatabase({ kind, pool, onClosed }: PoolDatabaseParts): Database {
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  let closed: Promise<void> | undefined;
  return {
    kind,
    prisma,
    ...sqlOf(pool),
    session: (work) => withClient(pool, (client) => work(sqlOf(client))),
    transaction: (work) => withClient(pool, (client) => inTransaction(client, work)),
    close() {
      closed ??= (async () => {
        await prisma.$disconnect();
        await pool.end();
        await onClosed?.();
      })();
      return closed;
    },
  };
}

function sqlOf(queryable: Pick<pg.ClientBase, "query">): Sql {
  return {
    async query<Row>(statement: string, parameters?: readonly unknown[]) {
      // Without parameters the simple protocol is used, which alone takes scripts of many statements.
      const result =
        parameters === undefined
          ? await queryable.query(statement)
          : await queryable.query(statement, [...parameters]);
      return result.rows as Row[];
    },
  };
}

async function inTransaction<T>(client: pg.PoolClient, work: (sql: Sql) => Promise<T>): Promise<T> {
  await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
  try {
    const result = await work(sqlOf(client));
    await client.query("COMMIT");
    return result;
  } catch (error) {
    // The first failure is the one to tell; a connection that cannot roll back is thrown away by the pool.
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

async function withClient<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  client.on("error", onError);
  try {
    return await work(client);
  } finally {
    client.off("error", onError);
    client.release(broken);
  }
}
