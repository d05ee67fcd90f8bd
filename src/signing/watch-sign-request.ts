import { ServiceError } from "../errors/service-error.ts";
import type { Queryable } from "../store/database.ts";
import { readShownSignRequest, type ShownSignRequest, type SignRevision } from "./shown-sign-request.ts";
import { signRequestNotFound } from "./submit.ts";
import { type ChangeWaitDeps, untilChanged, type WaitEnding } from "./until-changed.ts";
import { openCursor, sealCursor } from "./watch-cursor.ts";

/**
 * Follows a request of the project until it is completed or failed. The first message comes at once: the state, or a
 * heartbeat if the cursor stands for that state. All watches look for changes together, and the row is read when it has
 * changed. Nothing is queued for a slow reader, which gets the newest state when it asks. Throws
 * SIGN_REQUEST_NOT_FOUND, VALIDATION for a cursor of another request, WATCH_ENDED after the watch's lifetime, and the
 * reason of `signal` once that fires.
 * @param show converts each message into the caller's form
 */
export async function* watchSignRequest<T>(
  deps: WatchDeps,
  { signRequestId: id, projectId, cursor }: WatchInput,
  signal: WaitEnding,
  show: (message: WatchedSign) => T,
): AsyncGenerator<T, void, undefined> {
  const { heartbeatMs, lifetimeMs } = { ...DEFAULT_PACE, ...deps.watchPace };
  const { clock } = deps;
  const endMs = clock.now() + lifetimeMs;
  const known = openCursor(id, cursor);

  let row = await readShownSignRequest(deps.database, { id, projectId });
  if (row === undefined) throw signRequestNotFound(id);
  signal.throwIfAborted();
  let newest = revisionOf(row);
  const isNews = !isSame(newest, known);
  if (!isNews) row = undefined;
  if (isNews || !isFinal(newest)) yield show({ row, cursor: sealCursor(id, newest) });
  while (!isFinal(newest)) {
    // Most watches are idle, so only the revision is kept in memory.
    row = undefined;
    const untilMs = Math.min(clock.now() + heartbeatMs, endMs);
    do {
      if (await untilChanged(deps, { id, seen: newest }, { untilMs, signal }))
        row = await readShownSignRequest(deps.database, { id, projectId }, newest);
      signal.throwIfAborted();
    } while (row === undefined && clock.now() < untilMs);
    if (row === undefined && clock.now() >= endMs) throw watchEnded(sealCursor(id, newest));
    if (row !== undefined) newest = revisionOf(row);
    yield show({ row, cursor: sealCursor(id, newest) });
  }
}

export interface WatchDeps extends ChangeWaitDeps {
  readonly database: Queryable;
  /** Shorter for tests. */
  readonly watchPace?: Partial<WatchPace>;
}

/** The watched request and the starting point. */
export interface WatchInput {
  readonly signRequestId: string;
  readonly projectId: string;
  /** The last cursor of this request that the caller has seen; empty for none. */
  readonly cursor: string;
}

/** The intervals of a watch whose request does not change. */
export interface WatchPace {
  /** Default 15 s: well within the time after which proxies close a silent connection. */
  readonly heartbeatMs: number;
  /** Default 10 min. */
  readonly lifetimeMs: number;
}

/** A state, or a heartbeat if `row` is absent. */
export interface WatchedSign {
  readonly row: ShownSignRequest | undefined;
  /** Stands for the newest state that was sent. */
  readonly cursor: string;
}

const DEFAULT_PACE: WatchPace = { heartbeatMs: 15_000, lifetimeMs: 600_000 };

function revisionOf({ status, updatedAt }: SignRevision): SignRevision {
  return { status, updatedAt };
}

const isFinal = ({ status }: SignRevision) => status === "completed" || status === "failed";

function isSame(row: SignRevision, known: SignRevision | undefined): boolean {
  return row.status === known?.status && row.updatedAt.getTime() === known.updatedAt.getTime();
}

function watchEnded(cursor: string): ServiceError {
  return new ServiceError(
    "WATCH_ENDED",
    "the watch has reached its time limit; watch again with its cursor",
    {
      metadata: { cursor },
    },
  );
}
