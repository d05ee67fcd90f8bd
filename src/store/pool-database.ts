import { createHash } from "node:crypto";
import { PrismaPg } from "@prisma/adapter-pg";
import type pg from "pg";
import { PrismaClient } from "../../gen/prisma/client.ts";
import type { Database, Queryable } from "./database.ts";
import { withClient } from "./transaction-pool.ts";

/** Creates the database over a pool. Closing it ends the pool. */
export function createPoolDatabase({
  kind,
  pool,
  isPooled = false,
  limits = {},
  onClosed,
}: PoolDatabaseParts): Database {
  const style = { isNamed: kind === "postgres" && !isPooled };
  const begin = [BEGIN, ...Object.entries(limits).map(setLocal)].join("; ");
  // Minimal errors contain neither the calling code nor the values of the query.
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: "minimal" });
  let closed: Promise<void> | undefined;
  return {
    kind,
    isPooled,
    prisma,
    ...sqlOf(pool, style),
    transaction: (work) => withClient(pool, (client) => inTransaction(client, { style, begin }, work)),
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
  /** True if a pooler may give each transaction another session of the server. Default false. */
  readonly isPooled?: boolean;
  /** Settings of the server for each transaction, in milliseconds. Default: none. */
  readonly limits?: TransactionLimits;
  /** Called once, after the pool has ended. */
  readonly onClosed?: () => Promise<void>;
}

/** Limits of a transaction, by the name of the server's setting. */
export interface TransactionLimits {
  /** The time without a statement after which the server ends the transaction. */
  readonly idle_in_transaction_session_timeout?: number;
  /** The time after which the server ends a statement. */
  readonly statement_timeout?: number;
}

/** How statements are sent. */
interface Style {
  /** True if a connection may keep prepared statements for later. */
  readonly isNamed: boolean;
}

function sqlOf(queryable: Pick<pg.ClientBase, "query">, { isNamed }: Style): Queryable {
  return {
    async query<Row>(statement: string, parameters?: readonly unknown[]) {
      // A statement without parameters uses the simple protocol, the only one that accepts scripts.
      if (parameters === undefined) return (await queryable.query(statement)).rows as Row[];
      const values = [...parameters];
      // Each connection parses and plans a statement once. There are few statements, and they are constant.
      const prepared = isNamed ? { name: nameOf(statement) } : {};
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

/** Set for this transaction only, because a pooler does not keep the settings of a session. */
const setLocal = ([name, valueMs]: readonly [string, number]): string => `SET LOCAL ${name} = ${valueMs}`;

async function inTransaction<T>(
  client: pg.PoolClient,
  { style, begin }: { readonly style: Style; readonly begin: string },
  work: (db: Queryable) => Promise<T>,
): Promise<T> {
  await client.query(begin);
  try {
    const result = await work(sqlOf(client, style));
    await client.query("COMMIT");
    return result;
  } catch (error) {
    // Only the first failure is reported. The pool discards a connection that cannot roll back.
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}
