import type pg from "pg";
import type { Log } from "../telemetry/logger.ts";
import { columnTypes } from "./columns.ts";
import type { Database } from "./database.ts";
import { createPoolDatabase, TransactionPool, withClient } from "./pool-database.ts";

/**
 * Opens a pool on a PostgreSQL server, or on a pooler before one. Throws when the server does not answer or refuses.
 */
export async function openPostgres(
  databaseUrl: string,
  log: Log,
  options: PostgresOptions = {},
): Promise<Database> {
  const { silentTransactionMs = SILENT_TRANSACTION_MS, statementTimeoutMs, pooler = "auto" } = options;
  let keepsSessions = false;
  const pool = new TransactionPool(
    {
      connectionString: databaseUrl,
      max: options.poolSizeCount ?? POOL_SIZE_COUNT,
      connectionTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      application_name: "threshold-signing-service",
      types: columnTypes,
      // Set by a statement, because poolers refuse unknown startup parameters.
      async onConnect(client) {
        if (keepsSessions && statementTimeoutMs !== undefined)
          await client.query(`SET statement_timeout = ${statementTimeoutMs}`);
      },
    },
    options.waitingMaxCount ?? WAITING_MAX_COUNT,
  );
  // The pool replaces an idle connection that breaks. Without a listener, the event would end the process.
  pool.on("error", (cause) => log.warn({ cause }, "an idle database connection broke"));
  try {
    const found = await withClient(pool, async (client) => {
      const first = await lookAtSession(client);
      keepsSessions = pooler === "none" || (pooler === "auto" && !first.isPooled);
      if (keepsSessions && statementTimeoutMs !== undefined)
        await client.query(`SET statement_timeout = ${statementTimeoutMs}`);
      return first;
    });
    if (keepsSessions && found.isPooled) log.warn({}, `DATABASE_POOLER=none, but ${POOLER_FOUND}`);
    if (!keepsSessions) {
      log.info({ pooler }, `using no state of database sessions: ${POOLER_FOUND}`);
      if (statementTimeoutMs !== undefined && !found.isLimited) pool.limitStatements(statementTimeoutMs);
    }
    const limits = {
      idle_in_transaction_session_timeout: silentTransactionMs,
      ...(!keepsSessions && statementTimeoutMs !== undefined && { statement_timeout: statementTimeoutMs }),
    };
    return createPoolDatabase({ kind: "postgres", pool, isPooled: !keepsSessions, limits });
  } catch (error) {
    await pool.end();
    throw error;
  }
}

const POOLER_FOUND =
  "a pooler between this process and PostgreSQL may change the session with each transaction";

/**
 * Looks at the session behind a new connection. PostgreSQL tells its client the process id of the session at the start,
 * and a pooler tells one of its own.
 */
export async function lookAtSession(client: Pick<pg.ClientBase, "query">): Promise<FoundSession> {
  const { rows } = await client.query<{ pid: number; limitMs: string }>(
    `SELECT pg_backend_pid() AS pid, reset_val AS "limitMs" FROM pg_settings WHERE name = 'statement_timeout'`,
  );
  const { processID: told } = client as { readonly processID?: number };
  return { isPooled: told !== rows[0]?.pid, isLimited: rows[0]?.limitMs !== "0" };
}

/** The session behind a connection. */
export interface FoundSession {
  /** True if a pooler is between this process and PostgreSQL. */
  readonly isPooled: boolean;
  /** True if the role or the database has a limit for its statements. */
  readonly isLimited: boolean;
}

const POOL_SIZE_COUNT = 16;
/** The limit of a wait for a connection. */
const CONNECT_TIMEOUT_MS = 10_000;
/** The maximum number of waiting callers. Further callers are refused at once. */
const WAITING_MAX_COUNT = 1_000;
/** Without this, a lost machine's process would keep its locks until the server's TCP gives up, which takes hours. */
const SILENT_TRANSACTION_MS = 60_000;

export interface PostgresOptions {
  /** The time without a statement after which the server ends a transaction. Default 1 min. */
  readonly silentTransactionMs?: number | undefined;
  /** The time after which the server ends a statement. Default: never. */
  readonly statementTimeoutMs?: number | undefined;
  /** Default `auto`: looks for a pooler at the first connection. */
  readonly pooler?: "auto" | "none" | "transaction" | undefined;
  /** The size of the pool. Default 16. */
  readonly poolSizeCount?: number | undefined;
  /** Default 1,000. */
  readonly waitingMaxCount?: number | undefined;
  /** The longest wait of a caller for a connection. Default 10 s. */
  readonly connectTimeoutMs?: number | undefined;
}

/** Returns host and database of a PostgreSQL URL, without user and password. */
export function postgresPlace(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return `${host || "the local socket"}${pathname}`;
}
