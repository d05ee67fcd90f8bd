import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Events, type WatchEventsResponse } from "../../../../gen/proto/tss/v1/events_pb.ts";
import type { ProjectCaller } from "../../../../src/service/access/caller.ts";
import { announceEvents } from "../../../../src/service/events/event.ts";
import { createEventsService } from "../../../../src/service/events/events-service.ts";
import { readNewestPlace } from "../../../../src/service/events/read-events.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { writeEvent } from "../../../support/database/events.ts";
import { projectWith, TEST_ORIGIN } from "../../../support/database/rows.ts";
import { clientOf, refusalOf } from "../../../support/service/service-client.ts";

const NEVER_MS = 1_000_000_000;
const NEVER = { heartbeatMs: NEVER_MS, lifetimeMs: NEVER_MS, lookAgainMs: NEVER_MS };
const signals = createLocalSignals();
let database: Database;
let projectId: string;
let other: string;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 0n);
  other = await projectWith(database, 0n);
});

function eventsOf(project: string, watchPace: Partial<typeof NEVER> = NEVER) {
  const caller: ProjectCaller = {
    kind: "project",
    projectId: project,
    apiKeyId: "the calling key",
    network: "localnet",
    scopes: ["read"],
    origin: TEST_ORIGIN,
  };
  const service = createEventsService({ database, signals, clock: systemClock, watchPace });
  return clientOf(Events, service, () => caller);
}

const write = (subject: string, options?: Parameters<typeof writeEvent>[3]) =>
  writeEvent(database, projectId, subject, options);

const subjectsOf = (page: { readonly events: readonly { readonly subject: string }[] }) =>
  page.events.map(({ subject }) => subject);

describe("a list of events", () => {
  it("has a project's own events in pages, each after the last one's cursor", async () => {
    for (const subject of ["a", "b", "c"]) await write(subject);
    await writeEvent(database, other, "foreign");
    const events = eventsOf(projectId);
    const first = await events.listEvents({ pageSize: 2 });
    expect([subjectsOf(first), first.hasMore]).toEqual([["a", "b"], true]);
    const second = await events.listEvents({ pageSize: 2, cursor: first.cursor });
    expect([subjectsOf(second), second.hasMore]).toEqual([["c"], false]);
    await write("d");
    expect(subjectsOf(await events.listEvents({ cursor: second.cursor }))).toEqual(["d"]);
    expect(subjectsOf(await events.listEvents({ cursor: first.events[0]!.cursor }))).toEqual(["b", "c", "d"]);
    expect(subjectsOf(await eventsOf(other).listEvents({}))).toEqual(["foreign"]);
  });

  it("shows what happened to whom, and never changes", async () => {
    await write("s", { kind: "dwallet.active", userReference: "alice" });
    const [event] = (await eventsOf(projectId).listEvents({})).events;
    expect(event).toMatchObject({
      kind: "dwallet.active",
      subject: "s",
      userReference: "alice",
      data: { subject: "s" },
    });
    expect((await eventsOf(projectId).listEvents({})).events[0]).toEqual(event);
  });

  it("begins where the reader was, even if it was at the end of nothing", async () => {
    const events = eventsOf(projectId);
    const empty = await events.listEvents({});
    expect([empty.events, empty.hasMore]).toEqual([[], false]);
    await write("first");
    expect(subjectsOf(await events.listEvents({ cursor: empty.cursor }))).toEqual(["first"]);
  });

  it("has only the asked kinds, and its cursor passes by the others", async () => {
    await write("a");
    await write("b", { kind: "sign.failed" });
    await write("c");
    const events = eventsOf(projectId);
    const page = await events.listEvents({ kinds: ["sign.failed"] });
    expect([subjectsOf(page), page.hasMore]).toEqual([["b"], false]);
    expect(subjectsOf(await events.listEvents({ cursor: page.cursor }))).toEqual([]);
  });

  it("looks at a bounded number of events for one page, and finds those behind with its cursor", async () => {
    await database.query(
      `INSERT INTO event (project_id, kind, subject, data)
       SELECT $1, 'sign.completed', n::text, '{}' FROM generate_series(1, 1500) AS n`,
      [projectId],
    );
    await write("rare", { kind: "dwallet.left" });
    await readNewestPlace(database, projectId);
    const events = eventsOf(projectId);
    const first = await events.listEvents({ kinds: ["dwallet.left"] });
    expect([subjectsOf(first), first.hasMore]).toEqual([[], true]);
    const second = await events.listEvents({ kinds: ["dwallet.left"], cursor: first.cursor });
    expect([subjectsOf(second), second.hasMore]).toEqual([["rare"], false]);
  });

  it("has at most 200 events, and says that there are more, also before they have numbers", async () => {
    await database.query(
      `INSERT INTO event (project_id, kind, subject, data)
       SELECT $1, 'sign.completed', n::text, '{}' FROM generate_series(1, 1201) AS n`,
      [projectId],
    );
    const events = eventsOf(projectId);
    const subjects: string[] = [];
    let page = await events.listEvents({ pageSize: 1_000 });
    for (; page.hasMore; page = await events.listEvents({ pageSize: 1_000, cursor: page.cursor })) {
      expect(page.events.length).toBeLessThanOrEqual(200);
      subjects.push(...subjectsOf(page));
    }
    expect([...subjects, ...subjectsOf(page)]).toEqual(Array.from({ length: 1201 }, (_, n) => String(n + 1)));
  });

  it("refuses the cursor of another project, a malformed one and an unknown kind, by name", async () => {
    await write("a");
    const { cursor } = await eventsOf(projectId).listEvents({});
    const refused = (request: { cursor?: string; kinds?: string[] }) =>
      eventsOf(other)
        .listEvents(request)
        .then(String, (error: Error) => error.message);
    expect(await refused({ cursor })).toContain("cursor: does not belong to the events of this project");
    expect(await refused({ cursor: "x" })).toContain("cursor: does not belong to the events of this project");
    expect(await refused({ kinds: ["sign.complete"] })).toContain("kinds[0]: is not one of sign.completed");
  });

  it("tells a reader whose events the service has lost, instead of giving it those of another history", async () => {
    for (const subject of ["a", "b"]) await write(subject);
    const events = eventsOf(projectId);
    const { cursor } = await events.listEvents({});
    // As after a restore of an older copy.
    await database.query("DELETE FROM event WHERE project_id = $1 AND subject = 'b'", [projectId]);
    await database.query("UPDATE event_head SET last_sequence = 1 WHERE project_id = $1", [projectId]);
    expect(await refusalOf(events.listEvents({ cursor }))).toBe("CURSOR_LOST");
    await write("another b");
    await write("c");
    expect(subjectsOf(await events.listEvents({}))).toEqual(["a", "another b", "c"]);
    expect(await refusalOf(events.listEvents({ cursor }))).toBe("CURSOR_LOST");
  });
});

describe("a watch of events", () => {
  const next = async (watch: AsyncIterator<WatchEventsResponse>) =>
    (await watch.next()).value as WatchEventsResponse;

  it("begins with a heartbeat and the next event, and a signal is enough to wake it", async () => {
    await write("before");
    const watch = eventsOf(projectId).watchEvents({})[Symbol.asyncIterator]();
    const first = await next(watch);
    expect(first.event).toBeUndefined();
    const coming = next(watch);
    await write("after");
    announceEvents(signals, projectId);
    expect((await coming).event?.subject).toBe("after");
    await watch.return?.();
    const { cursor } = first;
    expect(subjectsOf(await eventsOf(projectId).listEvents({ cursor }))).toEqual(["after"]);
  });

  it("continues after a cursor with everything that it missed, and each message tells where to continue", async () => {
    for (let n = 0; n < 120; n++) await write(String(n));
    await writeEvent(database, other, "foreign");
    const events = eventsOf(projectId);
    const start = (await events.listEvents({ pageSize: 1 })).cursor;
    let cursor = start;
    const seen: string[] = [];
    while (seen.length < 119) {
      let count = 0;
      for await (const message of events.watchEvents({ cursor })) {
        seen.push(message.event!.subject);
        cursor = message.cursor;
        // A connection that breaks after a few messages.
        if (++count === 50 || seen.length === 119) break;
      }
    }
    expect(seen).toEqual(Array.from({ length: 119 }, (_, n) => String(n + 1)));
  });

  it("finds an event without a signal, and sends heartbeats in between", async () => {
    const watch = eventsOf(projectId, { ...NEVER, lookAgainMs: 1, heartbeatMs: 1 })
      .watchEvents({})
      [Symbol.asyncIterator]();
    expect((await next(watch)).event).toBeUndefined();
    expect((await next(watch)).event).toBeUndefined();
    await write("silent");
    let message = await next(watch);
    while (message.event === undefined) message = await next(watch);
    expect(message.event.subject).toBe("silent");
    await watch.return?.();
  });

  it("ends after its lifetime with the cursor to continue with", async () => {
    const watch = eventsOf(projectId, { ...NEVER, lifetimeMs: 0 })
      .watchEvents({})
      [Symbol.asyncIterator]();
    expect(await refusalOf(watch.next())).toBe("WATCH_ENDED");
  });
});
