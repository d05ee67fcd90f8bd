/** Readers of events while transactions overlap, on a real PostgreSQL. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { readEvents, readNewestPlace } from "../../src/service/events/read-events.ts";
import { deleteOldEvents } from "../../src/service/events/retain-events.ts";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { signSteps } from "../support/crypto/sign-steps.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { followEvents, writeEvent } from "../support/database/events.ts";
import { dwalletOf, projectWith, readyPresigns } from "../support/database/rows.ts";
import { refusalOf } from "../support/service/service-client.ts";

const database = await openRaceDatabase({
  count: 24,
  because: "eight writers hold two transactions each while four readers number events",
});
afterAll(() => database?.close());

describe.skipIf(database === undefined)("the reader of a project's events", () => {
  const db = database!;
  let projectId: string;

  beforeEach(async () => {
    projectId = await projectWith(db, 100_000n);
  });

  it("gets an event that was written first and committed last", async () => {
    let commit: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      commit = resolve;
    });
    let slow: Promise<void> | undefined;
    await new Promise<void>((written) => {
      slow = db.transaction(async (tx) => {
        await writeEvent(tx, projectId, "slow");
        written();
        await held;
      });
    });
    await writeEvent(db, projectId, "fast");
    const first = await followEvents(db, projectId);
    expect(first.subjects).toEqual(["fast"]);
    commit();
    await slow;
    expect((await followEvents(db, projectId, first.place)).subjects).toEqual(["slow"]);
  });

  it("gets what was committed before its call, also if another reader gives it its place meanwhile", async () => {
    await writeEvent(db, projectId, "committed");
    let isFirst = true;
    const interrupted: typeof db = {
      ...db,
      async query(...statement) {
        const rows = await db.query(...statement);
        if (isFirst) {
          isFirst = false;
          await followEvents(db, projectId);
        }
        return rows as never;
      },
    };
    const page = await readEvents(interrupted, { projectId, after: undefined, kinds: undefined, count: 10 });
    expect(page.events.map(({ subject }) => subject)).toEqual(["committed"]);
  });

  it("gets every event once and in one order while overlapping transactions commit and fail", async () => {
    const WRITERS = 8;
    const EACH = 30;
    let openCount = WRITERS;
    const writing = Array.from({ length: WRITERS }, async (_, writer) => {
      for (let n = 0; n < EACH; n++) {
        // Each transaction contains another one that begins later and commits first.
        await db
          .transaction(async (tx) => {
            await writeEvent(tx, projectId, `${writer}.${n}.outer`);
            await writeEvent(db, projectId, `${writer}.${n}.inner`);
            if (n % 7 === 0) throw new Error("rolled back");
          })
          .catch((error: Error) => expect(error.message).toBe("rolled back"));
      }
      openCount--;
    });
    const reading = [1, 3, 50, 200].map(async (count) => {
      const subjects: string[] = [];
      let place: Parameters<typeof followEvents>[2];
      for (let isLast = false; !isLast; ) {
        isLast = openCount === 0;
        const next = await followEvents(db, projectId, place, count);
        subjects.push(...next.subjects);
        place = next.place;
      }
      return subjects;
    });
    await Promise.all(writing);
    const seen = await Promise.all(reading);
    const committed = Array.from({ length: WRITERS }, (_, writer) =>
      Array.from({ length: EACH }, (_, n) => [
        `${writer}.${n}.inner`,
        ...(n % 7 === 0 ? [] : [`${writer}.${n}.outer`]),
      ]),
    ).flat(2);
    for (const subjects of seen) {
      expect(subjects.toSorted()).toEqual(committed.toSorted());
      expect(subjects).toEqual(seen[0]);
    }
    // The events of each writer are in the order in which it committed them.
    for (let writer = 0; writer < WRITERS; writer++) {
      const own = seen[0]!.flatMap((subject) =>
        subject.startsWith(`${writer}.`) ? [Number(subject.split(".")[1])] : [],
      );
      expect(own).toEqual(own.toSorted((a, b) => a - b));
    }
  }, 120_000);

  it("gets one event of each request that replicas complete or fail together", async () => {
    const steps = signSteps(db, createLocalSignals());
    const dwallet = await dwalletOf(db, projectId);
    await readyPresigns(db, dwallet.bucket, 40);
    const ids = await Promise.all(Array.from({ length: 40 }, () => steps.reserve(projectId, dwallet)));
    const expected = await Promise.all(
      ids.map(async (id, index) => {
        if (index % 4 === 3) {
          await steps.expire(id);
          return `sign.failed ${id}`;
        }
        await steps.submit(projectId, id);
        if (index % 4 === 2) {
          await Promise.all([steps.refuse(id), steps.refuse(id)]);
          return `sign.failed ${id}`;
        }
        await steps.land(id);
        const end = () => (index % 4 === 1 ? steps.reject(id) : steps.complete(id, dwallet));
        await Promise.all([end(), end()]);
        return index % 4 === 1 ? `sign.failed ${id}` : `sign.completed ${id}`;
      }),
    );
    const { events } = await readEvents(db, { projectId, after: undefined, kinds: undefined, count: 200 });
    expect(events.map(({ kind, subject }) => `${kind} ${subject}`).toSorted()).toEqual(expected.toSorted());
  }, 60_000);

  it("never passes by an event while old ones are deleted: it gets it, or learns that its cursor is lost", async () => {
    const other = await projectWith(db, 0n);
    for (let n = 0; n < 300; n++) await writeEvent(db, n % 3 === 0 ? other : projectId, String(n));
    const mine = Array.from({ length: 300 }, (_, n) => n).filter((n) => n % 3 !== 0);
    const subjects: string[] = [];
    let wasLost = false;
    const first = await readEvents(db, { projectId, after: undefined, kinds: undefined, count: 1 });
    const reading = (async () => {
      let place: typeof first.place | undefined = first.place;
      try {
        for (;;) {
          const next = await followEvents(db, projectId, place, 10);
          subjects.push(...next.subjects);
          if (next.subjects.length === 0) return;
          place = next.place;
        }
      } catch (error) {
        expect(await refusalOf(Promise.reject(error as Error))).toBe("CURSOR_LOST");
        wasLost = true;
      }
    })();
    const deleting = Array.from({ length: 3 }, async () => {
      while ((await deleteOldEvents(db, 0, 7)) > 0);
    });
    await Promise.all([reading, ...deleting]);
    const read = [String(mine[0]), ...subjects];
    expect(read).toEqual(mine.map(String).slice(0, read.length));
    if (!wasLost) expect(read).toHaveLength(mine.length);
    // The newest events had no number when they were deleted, if nobody had read them.
    const left = await followEvents(db, projectId);
    expect(left.subjects).toEqual([]);
  }, 60_000);

  it("learns that its cursor is lost if an event that had no number was deleted", async () => {
    await writeEvent(db, projectId, "read");
    const place = await readNewestPlace(db, projectId);
    await writeEvent(db, projectId, "unread");
    await db.query("UPDATE event SET created_at = now() - interval '31 days' WHERE project_id = $1", [
      projectId,
    ]);
    await deleteOldEvents(db, 30, 1_000);
    expect(await refusalOf(followEvents(db, projectId, place))).toBe("CURSOR_LOST");
    await writeEvent(db, projectId, "new");
    expect(await refusalOf(followEvents(db, projectId, place))).toBe("CURSOR_LOST");
    expect((await followEvents(db, projectId)).subjects).toEqual(["new"]);
  });
});
