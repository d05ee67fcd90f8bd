import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type Event, EventSchema, type Events } from "../../../gen/proto/tss/v1/events_pb.ts";
import type { Ending } from "../../transport/calls/ending.ts";
import { callerOf } from "../access/caller.ts";
import { type NumberedEvent, openPlace, readEvents, readKinds, sealPlace } from "./read-events.ts";
import { type WatchEventsDeps, watchEvents } from "./watch-events.ts";

/** Implements `tss.v1.Events`. */
export function createEventsService(deps: EventsServiceDeps): ServiceImpl<typeof Events> {
  const { database, clock, untilClosing = signalOf } = deps;
  return {
    async listEvents({ cursor, pageSize, kinds }, context) {
      const { projectId } = callerOf(context, "project");
      const { events, place, hasMore } = await readEvents(database, {
        projectId,
        after: openPlace(projectId, cursor),
        kinds: readKinds(kinds),
        count: pageSize === 0 ? DEFAULT_COUNT : Math.min(pageSize, MAX_COUNT),
      });
      return {
        events: events.map((event) => encodeEvent(projectId, event)),
        cursor: sealPlace(projectId, place),
        hasMore,
      };
    },
    async *watchEvents({ cursor, kinds }, context) {
      const { projectId } = callerOf(context, "project");
      const input = { projectId, after: openPlace(projectId, cursor), kinds: readKinds(kinds) };
      for await (const { event, cursor } of watchEvents(deps, input, untilClosing(context)))
        yield {
          ...(event && { event: encodeEvent(projectId, event) }),
          cursor,
          time: timestampFromDate(new Date(clock.wallMs())),
        };
    },
  };
}

/** Dependencies of {@link createEventsService}. */
export interface EventsServiceDeps extends WatchEventsDeps {
  /** Returns the signal that ends a watch, when its call ends or the process closes. Default: only when its call ends. */
  readonly untilClosing?: (context: HandlerContext) => Ending;
}

const DEFAULT_COUNT = 50;
const MAX_COUNT = 200;

function signalOf({ signal }: HandlerContext): Ending {
  return signal;
}

function encodeEvent(projectId: string, event: NumberedEvent): Event {
  const { eventId, kind, subject, userReference, data, createdAt } = event;
  return create(EventSchema, {
    eventId,
    kind,
    createTime: timestampFromDate(createdAt),
    subject,
    ...(userReference !== null && { userReference }),
    data: JSON.parse(data) as Record<string, string>,
    cursor: sealPlace(projectId, event),
  });
}
