import type { Sql } from "../store/database.ts";
import type { SignRevision } from "./shown-sign-request.ts";

/** Looks whether sign requests have changed, many of them with one query. */
export interface BatchedLooks {
  /** Whether the request is no longer as it was seen. Rejects with what the query rejects with. */
  hasChanged(signRequestId: string, seen: SignRevision): Promise<boolean>;
}

/** Requests in one query. */
const BATCH_MAX_COUNT = 1_000;
/** Between the end of one query and the next, so that at most 20 a second are made. */
const PAUSE_MS = 50;

interface Look {
  readonly id: string;
  readonly seen: SignRevision;
  settle(hasChanged: boolean): void;
  fail(reason: unknown): void;
}

/**
 * One query at a time, of all looks that wait by then, so that what idle watches cost the database does not grow with
 * their number. The first look of a quiet time is made at once. Who waits is bounded by who may watch.
 */
export function createBatchedLooks(sql: Sql): BatchedLooks {
  let waiting: Look[] = [];
  let isRunning = false;
  return {
    hasChanged: (id, seen) =>
      new Promise((settle, fail) => {
        waiting.push({ id, seen, settle, fail });
        if (!isRunning) void run();
      }),
  };

  async function run(): Promise<void> {
    isRunning = true;
    // Those that begin to watch in the same turn share the first query.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX_COUNT);
      waiting = waiting.slice(BATCH_MAX_COUNT);
      await look(sql, batch);
      await new Promise<void>((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    isRunning = false;
  }
}

async function look(sql: Sql, batch: readonly Look[]): Promise<void> {
  try {
    const rows = await sql.query<{ place: number }>(CHANGED, [
      batch.map(({ id }) => id),
      batch.map(({ seen }) => seen.status),
      batch.map(({ seen }) => seen.updatedAt.toISOString()),
    ]);
    const changed = new Set(rows.map(({ place }) => place));
    for (const [index, { settle }] of batch.entries()) settle(changed.has(index + 1));
  } catch (reason) {
    for (const { fail } of batch) fail(reason);
  }
}

const CHANGED = `
SELECT seen.place::int AS place
FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS seen(id, status, updated_at, place)
JOIN sign_request r ON r.id = seen.id::uuid
WHERE (r.status, r.updated_at) IS DISTINCT FROM (seen.status, seen.updated_at::timestamptz)`;
