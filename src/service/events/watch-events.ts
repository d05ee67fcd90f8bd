import type { Ending } from "../../transport/calls/ending.ts";
import { type Signals, waitForSignal } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import type { Clock } from "../platform/lifecycle/clock.ts";
import type { Database } from "../platform/store/database.ts";
import type { EventKind } from "./event.ts";
import {
  type EventPlace,
  type NumberedEvent,
  readEvents,
  readNewestPlace,
  sealPlace,
} from "./read-events.ts";

/**
 * Follows the events of a project after a place, or after the newest event. The first message comes at once: an event, or
 * a heartbeat. Reads the next events when the caller has taken the previous ones, so a slow reader costs no memory.
 * Throws CURSOR_LOST, WATCH_ENDED after the watch's lifetime, and the reason of `ending` once that fires.
 */
export async function* watchEvents(
  deps: WatchEventsDeps,
  { projectId, after, kinds }: WatchEventsInput,
  ending: Ending,
): AsyncGenerator<WatchedEvent, void, undefined> {
  const { database, clock } = deps;
  const { heartbeatMs, lifetimeMs, lookAgainMs } = { ...DEFAULT_PACE, ...deps.watchPace };
  const endMs = clock.now() + lifetimeMs;
  let place: EventPlace = after ?? (await readNewestPlace(database, projectId));
  const read = () => readEvents(database, { projectId, after: place, kinds, count: PAGE_COUNT });
  const stopping = new AbortController();
  const listener = { handleEvent: () => stopping.abort(ending.reason) };
  ending.throwIfAborted();
  ending.addEventListener("abort", listener, { once: true });
  const { signal } = stopping;
  let heartbeatAtMs = clock.now();
  try {
    for (;;) {
      const page = await waitForSignal(
        deps.signals,
        topics.events(projectId),
        { clock, timeoutMs: lookAgainMs, signal },
        async () => {
          const next = await read();
          const isNews = next.events.length > 0 || next.hasMore || clock.now() >= heartbeatAtMs;
          place = next.events.length > 0 ? place : next.place;
          return isNews ? next : undefined;
        },
      );
      signal.throwIfAborted();
      if (page === undefined) continue;
      for (const event of page.events) {
        place = event;
        yield { event, cursor: sealPlace(projectId, event) };
        heartbeatAtMs = clock.now() + heartbeatMs;
      }
      place = page.place;
      if (clock.now() >= endMs) throw watchEnded(sealPlace(projectId, place));
      if (page.events.length > 0 || clock.now() < heartbeatAtMs) continue;
      yield { event: undefined, cursor: sealPlace(projectId, place) };
      heartbeatAtMs = clock.now() + heartbeatMs;
    }
  } finally {
    ending.removeEventListener("abort", listener);
  }
}

export interface WatchEventsDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly signals: Signals;
  /** Shorter for tests. */
  readonly watchPace?: Partial<WatchPace>;
}

interface WatchPace {
  /** Default 15 s: well within the time after which proxies close a silent connection. */
  readonly heartbeatMs: number;
  /** Default 10 min. A busy watch ends between two pages. */
  readonly lifetimeMs: number;
  /** The interval of looks without a signal, which may be lost. Default 1 s. */
  readonly lookAgainMs: number;
}

const DEFAULT_PACE: WatchPace = { heartbeatMs: 15_000, lifetimeMs: 600_000, lookAgainMs: 1_000 };
const PAGE_COUNT = 50;

/** The watched project and the starting point. */
interface WatchEventsInput {
  readonly projectId: string;
  /** Undefined begins with the next event. */
  readonly after: EventPlace | undefined;
  /** Undefined for all kinds. */
  readonly kinds: readonly EventKind[] | undefined;
}

/** An event, or a heartbeat if `event` is undefined. */
export interface WatchedEvent {
  readonly event: NumberedEvent | undefined;
  /** Stands for the place after this message. */
  readonly cursor: string;
}

function watchEnded(cursor: string): ServiceError {
  return new ServiceError(
    "WATCH_ENDED",
    "the watch has reached its time limit; watch again with its cursor",
    { metadata: { cursor } },
  );
}
