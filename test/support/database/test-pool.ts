import pg from "pg";
import type { Database } from "../../../src/service/platform/store/database.ts";
import { openPostgres, type PostgresOptions } from "../../../src/service/platform/store/open-postgres.ts";
import { silentLog } from "../silent-log.ts";

/**
 * Opens a pool on a PostgreSQL server, with 2 connections unless the test says why it needs more. Opens all of them at
 * once, so that a full server is reported here and not in the middle of a test.
 */
export async function openTestPool(url: string, options: TestPoolOptions = {}): Promise<Database> {
  const { connections, ...others } = options;
  const poolSizeCount = connections?.count ?? POOL_SIZE_COUNT;
  return connecting(url, async () => {
    const database = await openPostgres(url, LOG, { ...others, poolSizeCount });
    try {
      await Promise.all(Array.from({ length: poolSizeCount }, () => database.query("SELECT 1", [])));
      return database;
    } catch (error) {
      await database.close();
      throw error;
    }
  });
}

/** Opens one connection to a PostgreSQL server. */
export async function openTestClient(config: pg.ClientConfig & TestServer): Promise<pg.Client> {
  const client = new pg.Client(config);
  await connecting(config.connectionString, () => client.connect());
  return client;
}

/** Runs work that opens connections. If the server has none left, throws an error that names it and says what to do. */
export async function connecting<T>(url: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === NO_CONNECTION_LEFT)) throw cause;
    throw new Error(
      `PostgreSQL at ${new URL(url).host} has no connection left: end other programs that use it, ` +
        "run fewer tests at once with --maxWorkers, or raise its max_connections",
      { cause },
    );
  }
}

const LOG = silentLog;
/** With two, calls meet in the database, and eight suites at once leave most of a server's 100 connections free. */
const POOL_SIZE_COUNT = 2;
/** The SQLSTATE `too_many_connections`. */
const NO_CONNECTION_LEFT = "53300";

/** More connections than a test has by default. */
export interface MoreConnections {
  readonly count: number;
  /** Why the test needs them. A race needs as many as its calls, and a suite at most 18. */
  readonly because: string;
}

/** Options of {@link openTestPool}. */
export interface TestPoolOptions extends Omit<PostgresOptions, "poolSizeCount"> {
  readonly connections?: MoreConnections;
}

interface TestServer {
  readonly connectionString: string;
}
