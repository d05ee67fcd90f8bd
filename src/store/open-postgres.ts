import pg from "pg";
import { columnTypes } from "./column-types.ts";
import type { Database } from "./database.ts";
import { createPoolDatabase } from "./pool-database.ts";
import type { StoreLog } from "./store-log.ts";

const POOL_SIZE_COUNT = 16;
const CONNECT_TIMEOUT_MS = 30_000;
/** A process whose machine was lost would else keep its locks until the server's TCP gives it up, which takes hours. */
const SILENT_TRANSACTION_MS = 60_000;

/** How {@link openPostgres} behaves. */
export interface PostgresOptions {
  /** The server ends a transaction whose process says nothing for so long. Default 1 min. */
  readonly silentTransactionMs?: number;
}

/** Opens a pool on a PostgreSQL server. Throws when the server does not answer or refuses. */
export async function openPostgres(
  databaseUrl: string,
  log: StoreLog,
  { silentTransactionMs = SILENT_TRANSACTION_MS }: PostgresOptions = {},
): Promise<Database> {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: POOL_SIZE_COUNT,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: "threshold-signing-service",
    types: columnTypes,
  });
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
