import sql from "sql-template-tag";
import { type Clock, pause } from "../platform/lifecycle/clock.ts";
import { number } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";
import {
  type SignRevision,
  STAGED_COLUMNS,
  STAGED_ROW,
  type StagedSignRequest,
  withStages,
} from "./shown-sign-request.ts";

/**
 * Runs one query at a time for all looks that are due, so the load on the database does not grow with the number of
 * idle watches. One timer serves all of them. The first look after a quiet time happens at once.
 */
export function createBatchedLooks(db: Queryable, clock: Clock, lookAgainMs = LOOK_AGAIN_MS): BatchedLooks {
  const followers = new Set<SignFollower>();
  const due = new Set<SignFollower>();
  /** Watches that rest until their next look, in the order of that time. */
  const resting = new Map<SignFollower, number>();
  let cancelTimer: (() => void) | undefined;
  let isRunning = false;

  function lookNow(follower: SignFollower): void {
    resting.delete(follower);
    due.add(follower);
    if (!isRunning) void run();
  }

  async function run(): Promise<void> {
    isRunning = true;
    // Watches that begin in the same turn share the first query.
    await Promise.resolve();
    while (due.size > 0) {
      const batch = [...due].slice(0, BATCH_MAX_COUNT);
      for (const follower of batch) due.delete(follower);
      await look(batch);
      await pause(clock, PAUSE_MS);
    }
    isRunning = false;
    setTimer();
  }

  async function look(batch: readonly SignFollower[]): Promise<void> {
    try {
      const changed = await findChanged(db, batch);
      const untilMs = clock.now() + lookAgainMs;
      for (const [index, follower] of batch.entries()) {
        // Some watches have ended meanwhile.
        if (!followers.has(follower)) continue;
        const row = changed.get(index + 1);
        if (row !== undefined) leave(follower);
        else if (!due.has(follower)) resting.set(follower, untilMs);
        follower.looked(row);
      }
    } catch (reason) {
      for (const follower of batch) {
        if (!followers.has(follower)) continue;
        leave(follower);
        follower.failed(reason);
      }
    }
  }

  function setTimer(): void {
    const [nextMs] = resting.values();
    if (cancelTimer === undefined && nextMs !== undefined)
      cancelTimer = clock.after(Math.max(0, nextMs - clock.now()), rouse);
  }

  function rouse(): void {
    cancelTimer = undefined;
    const dueMs = clock.now() + lookAgainMs * HASTE;
    for (const [follower, untilMs] of resting) {
      if (untilMs > dueMs) break;
      lookNow(follower);
    }
    if (!isRunning) setTimer();
  }

  function leave(follower: SignFollower): void {
    followers.delete(follower);
    due.delete(follower);
    resting.delete(follower);
    if (followers.size > 0) return;
    cancelTimer?.();
    cancelTimer = undefined;
  }

  return {
    leave,
    follow(follower) {
      followers.add(follower);
      lookNow(follower);
    },
    lookNow(follower) {
      if (followers.has(follower)) lookNow(follower);
    },
  };
}

/** Waits for a sign request to differ from the revision that was seen. */
export interface SignFollower {
  readonly id: string;
  readonly seen: SignRevision;
  /** Called after each look, with the request if it has changed. A look that finds a change is the last one. */
  looked(row: StagedSignRequest | undefined): void;
  /** Called when a look fails. No further look follows. */
  failed(reason: unknown): void;
}

/** Reads the sign requests that have changed, many of them with one query. */
export interface BatchedLooks {
  /** Looks at once, and then again at intervals. The bounds on watches also bound the number of followers. */
  follow(follower: SignFollower): void;
  /** Looks again at once. */
  lookNow(follower: SignFollower): void;
  leave(follower: SignFollower): void;
}

/** The maximum number of requests in one query. */
const BATCH_MAX_COUNT = 1_000;
/** The pause between two queries, which allows at most 20 a second. */
const PAUSE_MS = 50;
/** The interval of looks without a signal. Signals may be lost, so a change may stay unseen for this long. */
const LOOK_AGAIN_MS = 3_000;
/** The share of that interval by which a look may come early, to join others in one query. */
const HASTE = 0.1;

/**
 * Returns the requests that have changed, by their positions in the batch, counted from 1. Whoever follows a request was
 * allowed to see it, and that holds for good.
 */
async function findChanged(
  db: Queryable,
  batch: readonly SignFollower[],
): Promise<ReadonlyMap<number, StagedSignRequest>> {
  const ids = batch.map(({ id }) => id);
  const statuses = batch.map(({ seen }) => seen.status);
  const times = batch.map(({ seen }) => seen.updatedAt.toISOString());
  const rows = await readRows(
    db,
    sql`WITH changed AS MATERIALIZED (
          SELECT r.*, seen.place::int AS place
          FROM unnest(${ids}::text[], ${statuses}::text[], ${times}::text[]) WITH ORDINALITY
            AS seen(id, status, updated_at, place)
          JOIN sign_request r ON r.id = seen.id::uuid
          WHERE (r.status, r.updated_at) IS DISTINCT FROM (seen.status, seen.updated_at::timestamptz)
        )
        SELECT ${STAGED_COLUMNS}, r.place FROM ${withStages(sql`changed`)}`,
    { ...STAGED_ROW, place: number },
  );
  return new Map(rows.map(({ place, ...row }) => [place, row]));
}
