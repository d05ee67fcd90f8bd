import { afterEach, describe, expect, it } from "vitest";
import { MixedUpAnswerError } from "../../../../src/protocol/chain/read-errors.ts";
import type { OpenSession, SessionKind } from "../../../../src/service/chain/session.ts";
import { createSettler, type Settler } from "../../../../src/service/chain/settler.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { createManualClock } from "../../../support/manual-clock.ts";
import { silentLog } from "../../../support/silent-log.ts";

let settler: Settler | undefined;
afterEach(() => settler?.stop());

describe("the settler", () => {
  it("delivers the other sessions if one cannot be settled", async () => {
    const delivered = await settle({
      sessions: ["0xbad", "0xgood"],
      present: ["0xbad", "0xgood"],
      wanted: 1,
    });
    expect(delivered).toEqual(["0xgood"]);
  });

  it("delivers an object that the fullnode did not know at first, and one that completes late", async () => {
    const delivered = await settle({ sessions: ["0xlate"], present: [], appearsAtRead: 3, wanted: 1 });
    expect(delivered).toEqual(["0xlate"]);
  });

  it("does not touch sessions that the fullnode mixes up, and delivers the rest meanwhile", async () => {
    const logged: object[] = [];
    const delivered: string[] = [];
    await new Promise<void>((resolve) => {
      settler = createSettler({
        clock: systemClock,
        database: {} as Database,
        kinds: ["0x1", "0x2", "0x3"].map((objectId) => ({
          name: objectId,
          requestedBy: "sign",
          open: async () => (delivered.includes(objectId) ? [] : [{ subjectId: objectId, objectId }]),
          settle: async () => {
            delivered.push(objectId);
            if (delivered.length === 2) resolve();
            return true;
          },
        })),
        log: { ...silentLog, error: (fields) => void logged.push(fields) },
        reader: {
          async getObjects(ids) {
            if (ids.includes("0x2")) throw new MixedUpAnswerError("object", "another", ["0x2"]);
            return new Map(ids.map((id) => [id, new Uint8Array()]));
          },
        },
      });
      settler.start();
    });
    expect(delivered).toEqual(["0x1", "0x3"]);
    expect(logged).toMatchObject([{ objectIds: ["0x2"] }]);
  });

  it("reports a session that belongs to another request, and keeps it open", async () => {
    const mixUps: MixedUpAnswerError[] = [];
    let settledCount = 0;
    await new Promise<void>((resolve) => {
      settler = createSettler({
        clock: systemClock,
        database: {} as Database,
        kinds: [
          {
            name: "sign",
            requestedBy: "sign",
            open: async () => [{ subjectId: "row", objectId: "0x1" }],
            settle: async () => {
              settledCount++;
              throw new MixedUpAnswerError("session", "another's");
            },
          },
        ],
        onMixUp: (mixUp) => {
          mixUps.push(mixUp);
          resolve();
        },
        log: silentLog,
        reader: { getObjects: async (ids) => new Map(ids.map((id) => [id, new Uint8Array()])) },
      });
      settler.start();
    });
    expect(mixUps).toMatchObject([{ read: "session" }]);
    expect(settledCount).toBe(1);
  });

  it("reads all open sessions of all kinds in one call", async () => {
    const reads: (readonly string[])[] = [];
    await settle({ sessions: ["0x1", "0x2"], present: ["0x1", "0x2"], wanted: 2, reads });
    expect(reads[0]).toEqual(["0x1", "0x2"]);
  });

  it("reads less often the longer the newest session is open, late by an eighth, until another one is new", async () => {
    const clock = createManualClock();
    const readsAtMs: number[] = [];
    let sessions = ["0x1"];
    await new Promise<void>((resolve) => {
      settler = createSettler({
        clock: {
          ...clock,
          after(durationMs, call) {
            const cancel = clock.after(durationMs, call);
            setImmediate(clock.callNext);
            return cancel;
          },
        },
        database: {} as Database,
        log: silentLog,
        kinds: [
          {
            name: "sign",
            requestedBy: "sign",
            open: async () => sessions.map((objectId) => ({ subjectId: objectId, objectId })),
            settle: async () => false,
          },
        ],
        reader: {
          async getObjects() {
            readsAtMs.push(clock.now());
            if (readsAtMs.length === 60) sessions = ["0x1", "0x2"];
            if (readsAtMs.length === 65) resolve();
            return new Map();
          },
        },
      });
      settler.start();
    });
    const pauses = readsAtMs.slice(1).map((ms, index) => ms - readsAtMs[index]!);
    for (const [index, pause] of pauses.slice(0, 58).entries())
      expect(pause).toBeCloseTo(Math.min(Math.max(100, readsAtMs[index]! / 8), 2_000), 6);
    expect(pauses[57]).toBeCloseTo(2_000, 6);
    // The second session is new in the pass after the read that brought it.
    for (const pause of pauses.slice(60)) expect(pause).toBeCloseTo(100, 6);
  });

  it("delivers sessions beyond the number that it reads at once", async () => {
    const rows = Array.from({ length: 501 }, (_, i) => String(i).padStart(4, "0"));
    const newest = rows.at(-1)!;
    await new Promise<void>((resolve) => {
      settler = createSettler({
        clock: systemClock,
        database: {} as Database,
        log: silentLog,
        kinds: [
          {
            name: "sign",
            requestedBy: "sign",
            open: async (_, { after, limit }) =>
              rows
                .filter((id) => after.includes("-") || id > after)
                .slice(0, limit)
                .map((id) => ({ subjectId: id, objectId: id })),
            settle: async (_, { subjectId }) => {
              if (subjectId === newest) resolve();
              return false;
            },
          },
        ],
        // All sessions except the newest stay open.
        reader: { getObjects: async (ids) => new Map(ids.map((id) => [id, new Uint8Array()])) },
      });
      settler.start();
    });
  });
});

interface Scene {
  readonly sessions: readonly string[];
  readonly present: readonly string[];
  /** The read from which on every object exists. */
  readonly appearsAtRead?: number;
  /** The number of deliveries to wait for. */
  readonly wanted: number;
  readonly reads?: (readonly string[])[];
}

function settle({
  sessions,
  present,
  appearsAtRead = Infinity,
  wanted,
  reads = [],
}: Scene): Promise<string[]> {
  return new Promise((resolve) => {
    const delivered: string[] = [];
    const kindOf = (objectId: string): SessionKind => ({
      name: objectId,
      requestedBy: "sign",
      open: async (): Promise<OpenSession[]> =>
        delivered.includes(objectId) ? [] : [{ subjectId: objectId, objectId }],
      settle: async () => {
        if (objectId === "0xbad") throw new Error("it cannot be settled");
        if (delivered.push(objectId) === wanted) resolve(delivered);
        return true;
      },
    });
    settler = createSettler({
      clock: systemClock,
      database: {} as Database,
      kinds: sessions.map(kindOf),
      log: silentLog,
      reader: {
        async getObjects(ids) {
          reads.push(ids);
          const there = reads.length >= appearsAtRead ? ids : ids.filter((id) => present.includes(id));
          return new Map(there.map((id) => [id, new Uint8Array()]));
        },
      },
    });
    settler.start();
  });
}
