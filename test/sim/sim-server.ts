import pg from "pg";
import { columnTypes } from "../../src/service/platform/store/columns.ts";
import type { Database } from "../../src/service/platform/store/database.ts";
import { createPoolDatabase, SingleSessionPool } from "../../src/service/platform/store/pool-database.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import { connecting, openTestClient, openTestPool } from "../support/database/test-pool.ts";
import { installClock } from "./database-clock.ts";
import type { Scheduler } from "./scheduler.ts";
import type { StatementServer } from "./statements.ts";

/** A database for consecutive simulations, with a few permanent connections. */
export interface SimServer extends StatementServer {
  /** Empties the database. From now on, this scheduler decides when statements run. */
  begin(scheduler: Scheduler): Promise<void>;
  /** The databases of the replicas. Each replica keeps its database over all its lives. */
  readonly replicaDatabases: readonly Database[];
  /** The observer's database. */
  readonly database: Database;
  /** Drops the database, even while statements run on it. */
  close(): Promise<void>;
}

/** Few connections, so that many runs fit on one server. With two, a replica's calls and loops meet in the database. */
const REPLICA_CONNECTIONS = 2;
/** Opens a server. Returns undefined if no PostgreSQL answers. */
export async function openSimServer(replicaCount: number): Promise<SimServer | undefined> {
  const test = await migratedDatabase();
  if (test === undefined) return undefined;
  const whole = await openTestPool(test.url);
  await installClock(whole);
  const [emptying] = await whole.query<{ statements: string }>(EMPTYING);
  await whole.close();

  const control = await openTestClient({ connectionString: test.url });
  control.on("error", () => {});
  let scheduler: Scheduler | undefined;
  const schedule: Schedule = (pid, text, run) =>
    scheduler === undefined ? run() : scheduler.statement(pid, text, run);
  const pools = [...Array.from({ length: replicaCount }, () => REPLICA_CONNECTIONS), 1].map((max) =>
    scheduledPool(test.url, max, schedule),
  );
  const databases = pools.map((pool) => createPoolDatabase({ kind: "postgres", pool }));
  try {
    // Opens connections and loads Prisma before time is simulated.
    for (const pool of pools) await connecting(test.url, () => fill(pool));
    for (const database of databases) await database.prisma.project.findFirst({ select: { id: true } });
  } catch (cause) {
    await test.drop();
    throw cause;
  }
  const empty = emptying?.statements ?? "";
  return {
    replicaDatabases: databases.slice(0, replicaCount),
    database: databases.at(-1)!,
    async begin(next) {
      scheduler = undefined;
      await control.query(empty);
      scheduler = next;
    },
    async setTime(ms) {
      await control.query({ name: "time", text: "SELECT setval('sim.clock', $1)", values: [ms] });
    },
    async blockedPids(pids) {
      const { rows } = await control.query<{ pid: number }>({
        name: "blocked",
        text: "SELECT pid FROM unnest($1::int[]) AS pid WHERE cardinality(pg_blocking_pids(pid)) > 0",
        values: [pids],
      });
      return new Set(rows.map(({ pid }) => pid));
    },
    async close() {
      scheduler = undefined;
      // A stuck run holds connections that a pool would wait for forever.
      await control.end();
      await test.drop();
      await Promise.allSettled(databases.map((database) => Promise.race([database.close(), soon()])));
    },
  };
}

/**
 * Empties every table and restarts every sequence, past the triggers that protect rows. TRUNCATE would sync a file for
 * each table and index.
 */
const EMPTYING = `
SELECT 'SET session_replication_role = replica; '
  || (SELECT string_agg(format('DELETE FROM %I', tablename), '; ') FROM pg_tables
      WHERE schemaname = 'public' AND tablename <> '_prisma_migrations')
  || (SELECT coalesce(string_agg(format('; SELECT setval(%L, 1, false)', sequencename), ''), '') FROM pg_sequences
      WHERE schemaname = 'public') AS statements`;

type Schedule = <T>(pid: number, text: string, run: () => Promise<T>) => Promise<T>;

/** A pool whose statements run in their turn, and whose connections survive failed statements. */
function scheduledPool(connectionString: string, max: number, schedule: Schedule): SingleSessionPool {
  class ScheduledClient extends pg.Client {
    // biome-ignore lint/suspicious/noExplicitAny: pg declares eight shapes of one function
    override query(...args: any[]): any {
      const answer = typeof args.at(-1) === "function" ? args.pop() : undefined;
      const { processID } = this as unknown as { processID: number };
      const result = schedule<pg.QueryResult>(processID, textOf(args[0]), () =>
        super.query(args[0], args[1]),
      );
      if (answer === undefined) return result;
      result.then(
        (value) => answer(undefined, value),
        (error) => answer(error),
      );
    }
  }
  const pool = new SingleSessionPool({
    connectionString,
    max,
    idleTimeoutMillis: 0,
    types: columnTypes,
    Client: ScheduledClient,
  } as pg.PoolConfig);
  pool.on("error", () => {});
  return pool;
}

function textOf(query: string | { readonly text: string }): string {
  return typeof query === "string" ? query : query.text;
}

async function fill(pool: pg.Pool): Promise<void> {
  const clients = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  for (const client of clients) client.release();
}

function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 200).unref());
}
