import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { type Event, Events } from "../../../../gen/client/tss/v1/events_pb.ts";
import { sleep } from "../../../protocol/chain/poll.ts";
import { fromConnectError, isTransportFailure, TssError } from "../errors.ts";
import { createServiceCalls, type RequestOptions, type ServiceCaller } from "./service-calls.ts";

/** Creates the calls of events over a transport that adds the caller's headers. */
export function createEventCalls(transport: Transport, caller?: ServiceCaller): EventCalls {
  const calls = createServiceCalls(Events, transport, caller);
  const raw = createClient(Events, transport);
  return {
    async *list({ cursor = "", kinds = [], pageSize = 0 } = {}, options) {
      let from = cursor;
      for (;;) {
        const page = await calls.listEvents({ cursor: from, kinds: [...kinds], pageSize }, options);
        yield* page.events;
        if (!page.hasMore) return;
        from = page.cursor;
      }
    },
    async *watch({ cursor = "", kinds = [] } = {}, { signal } = {}) {
      let from = cursor;
      let failureCount = 0;
      for (;;) {
        signal?.throwIfAborted();
        let failure: TssError | undefined;
        try {
          const request = { cursor: from, kinds: [...kinds] };
          for await (const { event, cursor: place } of raw.watchEvents(request, signal && { signal })) {
            failureCount = 0;
            if (event !== undefined) yield event;
            // The place counts once the consumer asks for more.
            from = place;
          }
        } catch (cause) {
          signal?.throwIfAborted();
          const error = ConnectError.from(cause);
          failure = fromConnectError(error);
          if (!isTransportFailure(error) && failure.retryAfterMs === undefined) throw failure;
        }
        failureCount++;
        // Without a place, a new watch would begin later than this one.
        if (failureCount > (from === "" ? 1 : FAILURES_MAX_COUNT))
          throw failure ?? new TssError("UNREACHABLE", "the service keeps ending the watch");
        await sleep(Math.min(failure?.retryAfterMs ?? 2 ** failureCount * 100, PAUSE_MAX_MS), signal);
      }
    },
  };
}

/** The number of failures in a row, without a message, that end a watch. They take about three minutes. */
const FAILURES_MAX_COUNT = 20;
/** The longest pause before a broken watch begins again. */
const PAUSE_MAX_MS = 10_000;

/**
 * The events of the project, for its backend: the key needs the scope `read`, and sees the whole project. An event is kept
 * for 30 days. Store the `cursor` of the last event that you have processed: with it you get each later event once.
 */
export interface EventCalls {
  /**
   * Lists the events after a cursor, the oldest first, up to the newest one.
   *
   * @throws {TssError} CURSOR_LOST when events after the cursor are no longer kept.
   *
   * @example
   * for await (const { kind, subject, cursor } of client.events.list({ cursor: stored })) console.log(kind, subject);
   */
  list(args?: ListEventsArgs, options?: RequestOptions): AsyncIterable<Event>;
  /**
   * Follows the events after a cursor, or the next ones without a cursor, until you stop reading or the signal aborts.
   * Continues by itself when a connection breaks.
   *
   * @throws {TssError} CURSOR_LOST when events after the cursor are no longer kept.
   * @throws {TssError} UNREACHABLE when the service does not answer for minutes.
   *
   * @example
   * for await (const event of client.events.watch({ kinds: ["sign.completed"] })) console.log(event.data);
   */
  watch(
    args?: WatchEventsArgs,
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncIterable<Event>;
}

/** Arguments of `events.watch`. */
export interface WatchEventsArgs {
  /** The cursor of the last event that you have processed. Default: begins with the next event. */
  readonly cursor?: string | undefined;
  /** Only events of these kinds, such as `sign.completed`. Default: all. */
  readonly kinds?: readonly string[] | undefined;
}

/** Arguments of `events.list`. */
export interface ListEventsArgs {
  /** The cursor of the last event that you have processed. Default: begins with the oldest kept event. */
  readonly cursor?: string | undefined;
  /** Only events of these kinds, such as `sign.completed`. Default: all. */
  readonly kinds?: readonly string[] | undefined;
  /** The maximum number of events in a page. Default 50, at most 200. */
  readonly pageSize?: number | undefined;
}
