import type { Signals } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import { invalidField, ServiceError } from "../platform/errors/service-error.ts";
import type { Clock } from "../platform/lifecycle/clock.ts";
import type { Queryable } from "../platform/store/database.ts";
import { openToken, sealToken } from "../platform/store/read-page.ts";
import type { Reaching } from "../users/reach.ts";
import type { BatchedLooks, SignFollower } from "./batched-looks.ts";
import {
  readShownSignRequest,
  SIGN_STATUSES,
  type SignRevision,
  type StagedSignRequest,
} from "./shown-sign-request.ts";
import { signRequestNotFound } from "./submit.ts";

/**
 * Follows a request that the caller sees until it is completed or failed. The first message comes at once: the state, or a
 * heartbeat if the cursor stands for that state. All watches look for changes together, and a look returns the rows that
 * have changed. Nothing is queued for a slow reader, which gets the newest state when it asks. Throws
 * SIGN_REQUEST_NOT_FOUND, VALIDATION for a cursor of another request, WATCH_ENDED after the watch's lifetime, and the
 * reason of `signal` once that fires.
 * @param show converts each message into the caller's form
 */
export async function* watchSignRequest<T>(
  deps: WatchDeps,
  { signRequestId: id, caller, cursor }: WatchInput,
  signal: WaitEnding,
  show: (message: WatchedSign) => T,
): AsyncGenerator<T, void, undefined> {
  const { heartbeatMs, lifetimeMs } = { ...DEFAULT_PACE, ...deps.watchPace };
  const { clock } = deps;
  const endMs = clock.now() + lifetimeMs;
  const known = openCursor(id, cursor);

  let row = await readShownSignRequest(deps.database, { id, caller });
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
      row = await untilChanged(deps, { id, seen: newest }, { untilMs, signal });
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
interface WatchInput {
  readonly signRequestId: string;
  readonly caller: Reaching;
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
  readonly row: StagedSignRequest | undefined;
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

const CURSOR = /^([a-z]+)\.(\d{1,15})$/;

/** Returns a cursor for the state up to which a caller has watched a request. */
function sealCursor(signRequestId: string, { status, updatedAt }: SignRevision): string {
  return sealToken(scopeOf(signRequestId), `${status}.${updatedAt.getTime()}`);
}

/**
 * Returns the state that a cursor stands for, or undefined for an empty cursor. Throws VALIDATION for a cursor of
 * another request.
 */
function openCursor(signRequestId: string, cursor: string): SignRevision | undefined {
  if (cursor === "") return undefined;
  const [, name, updatedAtMs] = CURSOR.exec(openToken(scopeOf(signRequestId), cursor) ?? "") ?? [];
  const status = SIGN_STATUSES.find((one) => one === name);
  if (status === undefined) throw invalidField("cursor", "does not belong to this sign request");
  return { status, updatedAt: new Date(Number(updatedAtMs)) };
}

const scopeOf = (signRequestId: string): readonly string[] => ["watch", signRequestId];

/**
 * Waits until a sign request differs from the seen revision, `untilMs` is reached, or the signal fires. The time does
 * not end the wait before the first look. Resolves with the request if it has changed. Rejects if a look fails.
 */
function untilChanged(
  deps: ChangeWaitDeps,
  { id, seen }: { readonly id: string; readonly seen: SignRevision },
  { untilMs, signal }: { readonly untilMs: number; readonly signal: WaitEnding },
): Promise<StagedSignRequest | undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => new Wait(deps, id, seen, untilMs, signal, resolve, reject));
}

interface ChangeWaitDeps {
  /** Shared by all watches of the process. */
  readonly looks: BatchedLooks;
  readonly clock: Clock;
  readonly signals: Signals;
}

/** Fires when the caller no longer waits: an `AbortSignal`, or the part of one that a wait needs. */
export interface WaitEnding {
  readonly aborted: boolean;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: { handleEvent(): void }, options: { readonly once: true }): void;
  removeEventListener(type: "abort", listener: { handleEvent(): void }): void;
}

/** A class instead of closures, which take more memory: each idle watch has one. */
class Wait implements SignFollower {
  readonly id: string;
  readonly seen: SignRevision;
  readonly #looks: BatchedLooks;
  readonly #clock: Clock;
  readonly #untilMs: number;
  readonly #signal: WaitEnding;
  readonly #resolve: (row: StagedSignRequest | undefined) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #unsubscribe: () => void;
  #cancelTimer: (() => void) | undefined;

  constructor(
    { looks, clock, signals }: ChangeWaitDeps,
    id: string,
    seen: SignRevision,
    untilMs: number,
    signal: WaitEnding,
    resolve: (row: StagedSignRequest | undefined) => void,
    reject: (reason: unknown) => void,
  ) {
    this.id = id;
    this.seen = seen;
    this.#looks = looks;
    this.#clock = clock;
    this.#untilMs = untilMs;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener("abort", this, { once: true });
    this.#unsubscribe = signals.subscribe(topics.sign(id), () => looks.lookNow(this));
    // The listener is in place, so no change is lost between the look and the wait.
    looks.follow(this);
  }

  looked(row: StagedSignRequest | undefined): void {
    if (row !== undefined) this.#end(row);
    else
      this.#cancelTimer ??= this.#clock.after(Math.max(0, this.#untilMs - this.#clock.now()), () =>
        this.#end(),
      );
  }

  failed(reason: unknown): void {
    this.#reject(reason);
    this.#end();
  }

  /** Called when the signal fires. */
  handleEvent(): void {
    this.#end();
  }

  #end(row?: StagedSignRequest): void {
    this.#cancelTimer?.();
    this.#unsubscribe();
    this.#signal.removeEventListener("abort", this);
    this.#looks.leave(this);
    this.#resolve(row);
  }
}
