import { BoundedPool } from "./bounded-pool.ts";
import { columnTypes } from "./column-types.ts";
import type { Database } from "./database.ts";
import { createPoolDatabase } from "./pool-database.ts";
import type { StoreLog } from "./store-log.ts";

/** Opens a pool on a PostgreSQL server. Throws when the server does not answer or refuses. */
export async function openPostgres(
  databaseUrl: string,
  log: StoreLog,
  options: PostgresOptions = {},
): Promise<Database> {
  const { silentTransactionMs = SILENT_TRANSACTION_MS, statementTimeoutMs } = options;
  const pool = new BoundedPool(
    {
      connectionString: databaseUrl,
      max: options.poolSizeCount ?? POOL_SIZE_COUNT,
      connectionTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      application_name: "threshold-signing-service",
      types: columnTypes,
      // Set by a statement, because poolers refuse unknown startup parameters.
      ...(statementTimeoutMs !== undefined && {
        onConnect: (client) => client.query(`SET statement_timeout = ${statementTimeoutMs}`),
      }),
    },
    options.waitingMaxCount ?? WAITING_MAX_COUNT,
  );
  // The pool replaces an idle connection that breaks. Without a listener, the event would end the process.
  pool.on("error", (cause) => log.warn({ cause }, "an idle database connection broke"));
  try {
    await pool.query("SELECT 1");
  } catch (error) {
    await pool.end();
    throw error;
  }
  return createPoolDatabase({ kind: "postgres", pool, silentTransactionMs });
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
  /** The size of the pool. Default 16. */
  readonly poolSizeCount?: number | undefined;
  /** Default 1,000. */
  readonly waitingMaxCount?: number | undefined;
  /** The longest wait of a caller for a connection. Default 10 s. */
  readonly connectTimeoutMs?: number | undefined;
}
