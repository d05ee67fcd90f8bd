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
      // By a statement, as poolers refuse parameters of a connection's start that they do not know.
      ...(statementTimeoutMs !== undefined && {
        onConnect: (client) => client.query(`SET statement_timeout = ${statementTimeoutMs}`),
      }),
    },
    options.waitingMaxCount ?? WAITING_MAX_COUNT,
  );
  // A connection that breaks while nobody uses it is replaced; unheard, the event would end the process.
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
/** For a connection: a new one, or one that others have. */
const CONNECT_TIMEOUT_MS = 10_000;
/** The number of callers that may wait for a connection; further ones are refused at once. */
const WAITING_MAX_COUNT = 1_000;
/** A process whose machine was lost would else keep its locks until the server's TCP gives it up, which takes hours. */
const SILENT_TRANSACTION_MS = 60_000;

export interface PostgresOptions {
  /** After this time without a statement, the server ends a transaction. Default 1 min. */
  readonly silentTransactionMs?: number | undefined;
  /** The server ends a statement after so long. Default: never. */
  readonly statementTimeoutMs?: number | undefined;
  /** For tests that fill it. Default 16. */
  readonly poolSizeCount?: number | undefined;
  /** Default 1,000. */
  readonly waitingMaxCount?: number | undefined;
  /** How long a caller waits for a connection. Default 10 s. */
  readonly connectTimeoutMs?: number | undefined;
}
