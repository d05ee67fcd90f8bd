import { randomUUID } from "node:crypto";
import sql from "sql-template-tag";
import { findLeasedLane } from "../chain/submit/lane-table.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../platform/lifecycle/background-loop.ts";
import type { Clock } from "../platform/lifecycle/clock.ts";
import { number, text } from "../platform/store/columns.ts";
import { type Database, execute, type Queryable, readRows } from "../platform/store/database.ts";
import { guardDatabase } from "../platform/store/guard-database.ts";
import { LOCK_KEYS } from "../platform/store/migrate.ts";
import type { Log } from "../platform/telemetry/logger.ts";

/**
 * Marks a process in the database as running, until it ends the mark or stops renewing it. A process that reconciles
 * networks throws if any other one runs. Two that start at once see each other, because they mark one after the other.
 */
export async function markProcess(options: MarkProcessOptions): Promise<ProcessMark> {
  const { database, clock, log } = options;
  const { intervalMs = database.kind === "pglite" ? EMBEDDED_INTERVAL_MS : INTERVAL_MS } = options;
  const mark: Mark = { ...options, id: randomUUID(), lastsMs: INTERVALS_PER_MARK * intervalMs };
  let reconciles = [...options.reconciles];
  let hasExpired = false;
  await database.transaction(async (db) => {
    await execute(db, sql`SELECT pg_advisory_xact_lock(${LOCK_KEYS.processMarks})`);
    // No other process can have this database open, so the other marks are left from processes that died.
    const isLeft =
      database.kind === "pglite" ? sql`true` : sql`expires_at < clock_timestamp() - interval '1 day'`;
    await execute(db, sql`DELETE FROM process_mark WHERE ${isLeft}`);
    if (reconciles.length > 0) await checkAlone(db, database.kind);
    await write(db, mark, reconciles);
  });
  const loop = createBackgroundLoop({
    name: "process mark",
    intervalMs,
    maxBackoffMs: intervalMs,
    clock,
    log,
    async pass() {
      // The process still runs, so others must see it, but it may not go on with its reconciliation.
      if (reconciles.length > 0 && !(await isHeld(database))) hasExpired = true;
      await write(database, mark, reconciles);
      return false;
    },
  });
  const isHeld = async (db: Queryable): Promise<boolean> => {
    const count = await execute(
      db,
      sql`SELECT 1 FROM process_mark WHERE id = ${mark.id}::uuid AND expires_at > clock_timestamp()`,
    );
    return count > 0;
  };
  const checkHeld = async (db: Queryable): Promise<void> => {
    if (hasExpired || !(await isHeld(db))) throw new Error(EXPIRED);
  };
  return {
    loop,
    async checkFree(network) {
      const others = await runningProcesses(
        database,
        sql`${network} = ANY(reconciles) AND id <> ${mark.id}::uuid`,
      );
      if (others.length > 0)
        throw new Error(`${network} is being reconciled: ${listed(others)}. Start again when that has ended`);
    },
    reconciles: (network) => reconciles.includes(network),
    // The embedded database has no other process.
    guard: (db) => (db.kind === "pglite" ? db : guardDatabase(db, checkHeld)),
    async reconciled(network) {
      if (!reconciles.includes(network)) return;
      if (hasExpired) throw new Error(EXPIRED);
      const left = reconciles.filter((name) => name !== network);
      const count = await execute(
        database,
        sql`UPDATE process_mark SET reconciles = ${left}::text[]
            WHERE id = ${mark.id}::uuid AND expires_at > clock_timestamp() RETURNING id`,
      );
      if (count === 0) throw new Error(EXPIRED);
      reconciles = left;
    },
    async end() {
      await loop.stop();
      try {
        await database.prisma.processMark.deleteMany({ where: { id: mark.id } });
      } catch (cause) {
        log.warn({ cause }, "the mark of this process stays until it expires");
      }
    },
  };
}

/** A process's entry in the database that says that it runs. */
export interface ProcessMark {
  /** Renews the mark. {@link ProcessMark.end} stops it. */
  readonly loop: Pick<BackgroundLoop, "start">;
  /** Throws if another process reconciles the network. */
  checkFree(network: string): Promise<void>;
  /** True until this process has reconciled the network that it was to reconcile. */
  reconciles(network: string): boolean;
  /**
   * Returns the database for a reconciliation. It refuses every statement once the mark has expired, even if the mark
   * was renewed later, because another process may have begun in between.
   */
  guard(database: Database): Database;
  /** Says that this process has reconciled the network. Others may then use it. Throws if the mark has expired. */
  reconciled(network: string): Promise<void>;
  end(): Promise<void>;
}

export interface MarkProcessOptions {
  readonly database: Database;
  readonly kind: "api" | "worker" | "all" | "reconcile";
  readonly host: string;
  readonly pid: number;
  /** The networks that it reconciles before anyone uses them. While there is one, no lane of it can be leased. */
  readonly reconciles: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  /** The time between two renewals. Default 10 s, or ten minutes on the embedded database, which has one process. */
  readonly intervalMs?: number;
}

type Mark = Pick<MarkProcessOptions, "kind" | "host" | "pid"> & {
  readonly id: string;
  readonly lastsMs: number;
};

interface RunningProcess extends Pick<Mark, "host" | "pid"> {
  readonly kind: string;
  readonly remainingSeconds: number;
}

const INTERVAL_MS = 10_000;
const EMBEDDED_INTERVAL_MS = 600_000;
/** Allows for two renewals that fail. */
const INTERVALS_PER_MARK = 3;
/** The maximum number of processes in an error. */
const LISTED_MAX_COUNT = 5;

const EXPIRED =
  "the reconciliation stops: this process lost the database until its mark expired, and another process may have begun since. Stop every process and reconcile again";

/** Stores the mark, or renews it; a renewal changes only the time, which is the database's. */
async function write(
  db: Queryable,
  { id, kind, host, pid, lastsMs }: Mark,
  reconciles: readonly string[],
): Promise<void> {
  await execute(
    db,
    sql`INSERT INTO process_mark (id, kind, host, pid, reconciles, expires_at)
        VALUES (${id}::uuid, ${kind}, ${host}, ${pid}, ${[...reconciles]}::text[],
          clock_timestamp() + ${lastsMs} * interval '1 millisecond')
        ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at`,
  );
}

async function checkAlone(db: Queryable, kind: Database["kind"]): Promise<void> {
  const others = await runningProcesses(db, sql`true`);
  if (others.length > 0) {
    const waitSeconds = Math.max(...others.map(({ remainingSeconds }) => remainingSeconds));
    throw new Error(
      `other processes use this database: ${listed(others)}. Stop them and try again. If they were killed, try again in ${waitSeconds} s`,
    );
  }
  // A replica of a release without marks has only the leases of its lanes.
  const leased = kind === "pglite" ? undefined : await findLeasedLane(db);
  if (leased !== undefined)
    throw new Error(`a replica holds lane ${leased}; stop every replica, and try again in ten seconds`);
}

function runningProcesses(db: Queryable, condition: ReturnType<typeof sql>): Promise<RunningProcess[]> {
  return readRows<RunningProcess>(
    db,
    sql`SELECT kind, host, pid, ceil(extract(epoch FROM expires_at - clock_timestamp()))::integer AS "remainingSeconds"
        FROM process_mark WHERE expires_at > clock_timestamp() AND ${condition} ORDER BY expires_at, id`,
    { kind: text, host: text, pid: number, remainingSeconds: number },
  );
}

function listed(processes: readonly RunningProcess[]): string {
  const names = processes.map(({ kind, host, pid }) => `${kind} (process ${pid} on ${host})`);
  const more = names.length - LISTED_MAX_COUNT;
  return [...names.slice(0, LISTED_MAX_COUNT), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}
