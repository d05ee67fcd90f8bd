import { Events } from "../../../../../../gen/proto/tss/v1/events_pb.ts";
import { readNewestPlace, sealPlace } from "../../../../../../src/service/events/read-events.ts";
import { writeEvent } from "../../../../../support/database/events.ts";
import type { Provocation } from "./provocation.ts";

const { listEvents, watchEvents } = Events.method;

const deleted = (method: typeof listEvents | typeof watchEvents): Provocation => ({
  how: `a cursor whose next events are deleted, of ${method.name}`,
  async provoke({ newProject, database }, protocolClient) {
    const { projectId, key } = await newProject();
    await writeEvent(database, projectId, "first");
    const cursor = sealPlace(projectId, await readNewestPlace(database, projectId));
    await writeEvent(database, projectId, "second");
    await readNewestPlace(database, projectId);
    await database.query("UPDATE event_head SET lost_sequence = last_sequence WHERE project_id = $1", [
      projectId,
    ]);
    return protocolClient.call({ method, key, request: { cursor } });
  },
});

/** Refusals of calls about events. */
export const EVENT_PROVOCATIONS = {
  CURSOR_LOST: [deleted(listEvents), deleted(watchEvents)],
} as const satisfies Readonly<Record<string, readonly Provocation[]>>;
