import { createHash } from "node:crypto";
import { PrismaPg } from "@prisma/adapter-pg";
import type pg from "pg";
import { PrismaClient } from "../../gen/prisma/client.ts";
import type { Database, Queryable } from "./database.ts";

/** Creates the database over a pool. Closing it ends the pool. */
export function createPoolDatabase({
  kind,
  pool,
  silentTransactionMs,
  onClosed,
}: PoolDatabaseParts): Database {
  const begin = silentTransactionMs === undefined ? BEGIN : `${BEGIN}; ${endAfter(silentTransactionMs)}`;
  // Minimal errors contain neither the calling code nor the values of the query.
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: "minimal" });
  let closed: Promise<void> | undefined;
  return {
    kind,
    prisma,
    ...sqlOf(pool, kind),
    session: (work) => withClient(pool, (client) => work(sqlOf(client, kind))),
    transaction: (work) => withClient(pool, (client) => inTransaction(client, { kind, begin }, work)),
    connections: () => ({
      busyCount: pool.totalCount - pool.idleCount,
      idleCount: pool.idleCount,
      waitingCount: pool.waitingCount,
      maxCount: pool.options.max,
    }),
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

export interface PoolDatabaseParts {
  readonly kind: Database["kind"];
  readonly pool: pg.Pool;
  /** The time without a statement after which the server ends a transaction. Undefined: never. */
  readonly silentTransactionMs?: number;
  /** Called once, after the pool has ended. */
  readonly onClosed?: () => Promise<void>;
}

function sqlOf(queryable: Pick<pg.ClientBase, "query">, kind: Database["kind"]): Queryable {
  return {
    async query<Row>(statement: string, parameters?: readonly unknown[]) {
      // A statement without parameters uses the simple protocol, the only one that accepts scripts.
      if (parameters === undefined) return (await queryable.query(statement)).rows as Row[];
      const values = [...parameters];
      // Each connection parses and plans a statement once. There are few statements, and they are constant.
      const prepared = kind === "postgres" ? { name: nameOf(statement) } : {};
      return (await queryable.query({ ...prepared, text: statement, values })).rows as Row[];
    },
  };
}

const names = new Map<string, string>();

/** The name of a prepared statement. PostgreSQL truncates names after 63 bytes. */
function nameOf(statement: string): string {
  const known = names.get(statement);
  if (known !== undefined) return known;
  const name = `tss_${createHash("sha256").update(statement).digest("hex").slice(0, 32)}`;
  names.set(statement, name);
  return name;
}

const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED";

/** Set for this transaction only, because a pooler does not keep session options. */
const endAfter = (silentMs: number): string => `SET LOCAL idle_in_transaction_session_timeout = ${silentMs}`;

async function inTransaction<T>(
  client: pg.PoolClient,
  { kind, begin }: Pick<Database, "kind"> & { readonly begin: string },
  work: (db: Queryable) => Promise<T>,
): Promise<T> {
  await client.query(begin);
  try {
    const result = await work(sqlOf(client, kind));
    await client.query("COMMIT");
    return result;
  } catch (error) {
    // Only the first failure is reported. The pool discards a connection that cannot roll back.
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
