import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { createRedisCoordination } from "../../../../src/service/platform/coordination/redis-coordination.ts";
import type { Signals } from "../../../../src/service/platform/coordination/signals.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { sealToken } from "../../../../src/service/platform/store/read-page.ts";
import { createBatchedLooks } from "../../../../src/service/signing/batched-looks.ts";
import {
  type WatchDeps,
  type WatchedSign,
  type WatchPace,
  watchSignRequest,
} from "../../../../src/service/signing/watch-sign-request.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { testRedis } from "../../../support/database/redis.ts";
import {
  dwalletOf,
  projectWith,
  readyPresigns,
  type TestDWalletRow,
} from "../../../support/database/rows.ts";
import { createPauseClock } from "../../../support/pause-clock.ts";
import { silentLog } from "../../../support/silent-log.ts";

const NEVER_MS = 1_000_000_000;
const NEVER: WatchPace = { heartbeatMs: NEVER_MS, lifetimeMs: NEVER_MS };
const redisUrl = await testRedis();
const open: { close(): Promise<void> }[] = [];
let database: Database;
let projectId: string;
let dwallet: TestDWalletRow;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 1_000n);
  dwallet = await dwalletOf(database, projectId);
  await readyPresigns(database, dwallet.bucket, 2);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((signals) => signals.close()));
});

/** The signals of the watching replica and of the acting one. */
async function localEnds(): Promise<[Signals, Signals]> {
  const signals = createLocalSignals();
  open.push(signals);
  return [signals, signals];
}

async function redisEnds(): Promise<[Signals, Signals]> {
  const prefix = `tss-test-${crypto.randomUUID()}:`;
  const make = () => createRedisCoordination({ url: redisUrl!, log: silentLog, prefix });
  const ends = [make(), make()] as const;
  open.push(...ends);
  await Promise.all(ends.map((end) => end.ready()));
  return [ends[0].signals, ends[1].signals];
}

/** Dependencies of watches that tell the test how many watches listen, and when they have read the database. */
function observed(
  signals: Pick<Signals, "subscribe">,
  { lookAgainMs = NEVER_MS, ...watchPace }: Partial<WatchPace> & { lookAgainMs?: number } = {},
) {
  let listenerCount = 0;
  let idleCount = 0;
  let check: () => void = () => {};
  let queryCount = 0;
  const counted = {
    async query<Row>(statement: string, parameters: readonly unknown[] = []) {
      const rows = await database.query<Row>(statement, parameters);
      queryCount++;
      // One query may look for the rows of many watches.
      const [looked] = parameters;
      if (rows.length === 0) idleCount += Array.isArray(looked) ? looked.length : 1;
      check();
      return rows;
    },
  };
  const deps: WatchDeps = {
    watchPace: { ...NEVER, ...watchPace },
    database: counted,
    clock: systemClock,
    looks: createBatchedLooks(counted, systemClock, lookAgainMs),
    signals: {
      ...createLocalSignals(),
      subscribe(topic, listener) {
        listenerCount++;
        const leave = signals.subscribe(topic, listener);
        return () => {
          listenerCount--;
          leave();
        };
      },
    },
  };
  return {
    deps,
    listenerCount: () => listenerCount,
    queryCount: () => queryCount,
    /** Resolves when this many watches listen and have found nothing new. Call it in the turn of their `next`. */
    idle: (count = 1) =>
      new Promise<void>((resolve) => {
        idleCount = 0;
        check = () => {
          if (idleCount === count && listenerCount === count) resolve();
        };
      }),
  };
}

const watch = (
  deps: WatchDeps,
  signRequestId: string,
  { cursor = "", project = projectId, signal = new AbortController().signal } = {},
) =>
  watchSignRequest(
    deps,
    { signRequestId, caller: { projectId: project }, cursor },
    signal,
    (message) => message,
  );

const message = async (next: Promise<IteratorResult<WatchedSign, void>>): Promise<WatchedSign> => {
  const result = await next;
  if (result.done === true) throw new Error("the watch has ended");
  return result.value;
};
const statusOf = async (next: Promise<IteratorResult<WatchedSign, void>>) =>
  (await message(next)).row?.status;

describe.each([
  { name: "in one process", ends: localEnds, missing: false },
  { name: "of two replicas over Redis", ends: redisEnds, missing: redisUrl === undefined },
])("a watch by signals $name", ({ ends, missing }) => {
  describe.skipIf(missing)("", () => {
    it.each([
      ["completed", ["submit", "land", "complete"], ["queued", "submitted", "completed"]],
      ["rejected by the network", ["submit", "land", "reject"], ["queued", "submitted", "failed"]],
      ["refused by the chain", ["submit", "refuse"], ["queued", "failed"]],
      ["expired", ["expire"], ["failed"]],
    ] as const)("sends every state in order of a request that is %s", async (_, steps, states) => {
      const [heard, told] = await ends();
      const acting = signSteps(database, told);
      const id = await acting.reserve(projectId, dwallet);
      const { deps, idle, listenerCount } = observed(heard);
      const watching = watch(deps, id);
      expect(await statusOf(watching.next())).toBe("prepared");
      const act = {
        submit: () => acting.submit(projectId, id),
        expire: () => acting.expire(id),
        land: () => acting.land(id),
        refuse: () => acting.refuse(id),
        complete: () => acting.complete(id, dwallet),
        reject: () => acting.reject(id),
      };
      const seen = [];
      for (const step of steps) {
        const next = watching.next();
        // By then it waits only for a signal, without a time-out.
        await idle();
        await act[step]();
        seen.push(await statusOf(next));
      }
      expect(seen).toEqual(states);
      expect(await watching.next()).toEqual({ done: true, value: undefined });
      expect(listenerCount()).toBe(0);
    });
  });
});

describe("a watch", () => {
  const acting = () =>
    signSteps(database, {
      notify() {},
      subscribe: () => () => {},
      subscribeKind: () => () => {},
      isComplete: () => false,
      close: async () => {},
    });
  const deaf = { subscribe: () => () => {} };

  it("finds a change without a signal by polling", async () => {
    const id = await acting().reserve(projectId, dwallet);
    const { deps, idle } = observed(deaf, { lookAgainMs: 1 });
    const watching = watch(deps, id);
    await watching.next();
    const next = watching.next();
    await idle();
    await acting().submit(projectId, id);
    expect(await statusOf(next)).toBe("queued");
  });

  it("reads again once it is subscribed, so that no change between the read and the subscription is lost", async () => {
    const id = await acting().reserve(projectId, dwallet);
    const watching = watch(observed(deaf).deps, id);
    await watching.next();
    await acting().submit(projectId, id);
    expect(await statusOf(watching.next())).toBe("queued");
  });

  it("sends a slow reader only the newest state, and queues none", async () => {
    const id = await completed();
    const signals = createLocalSignals();
    open.push(signals);
    const other = await signSteps(database, signals).reserve(projectId, dwallet);
    const { deps, listenerCount } = observed(signals);
    const watching = watch(deps, other);
    expect(await statusOf(watching.next())).toBe("prepared");
    expect(listenerCount()).toBe(0);
    await finish(other);
    expect(await statusOf(watching.next())).toBe("completed");
    expect((await watching.next()).done).toBe(true);
    expect(await statusOf(watch(deps, id).next())).toBe("completed");
  });

  it("resumes with a cursor: sends a heartbeat at once, then only new states", async () => {
    const id = await acting().reserve(projectId, dwallet);
    const { deps } = observed(deaf);
    const { cursor } = await message(watch(deps, id).next());
    const watching = watch(deps, id, { cursor });
    expect(await message(watching.next())).toEqual({ row: undefined, cursor });
    await acting().submit(projectId, id);
    expect(await statusOf(watching.next())).toBe("queued");
    expect(await statusOf(watch(deps, id, { cursor }).next())).toBe("queued");
  });

  it("of a final state sends it and ends, or only ends if the cursor already has it", async () => {
    const id = await completed();
    const { deps } = observed(deaf);
    const watching = watch(deps, id);
    const { row, cursor } = await message(watching.next());
    expect(row).toMatchObject({ id, status: "completed" });
    expect((await watching.next()).done).toBe(true);
    expect((await watch(deps, id, { cursor }).next()).done).toBe(true);
  });

  it("refuses the cursor of another request", async () => {
    const { deps } = observed(deaf);
    const [id, other] = [await completed(), await acting().reserve(projectId, dwallet)];
    const { cursor } = await message(watch(deps, other).next());
    const odd = ["prepared.1", `${cursor}A`, cursor.slice(1), "%", sealToken(["watch", id], "unknown.1")];
    for (const wrong of [cursor, ...odd]) {
      await expect(watch(deps, id, { cursor: wrong }).next()).rejects.toMatchObject({
        reason: "VALIDATION",
        violations: [{ field: "cursor" }],
      });
    }
  });

  it("of an unknown or another project's request is not found", async () => {
    const { deps } = observed(deaf);
    const id = await completed();
    const other = await projectWith(database, 0n);
    const refusal = { reason: "SIGN_REQUEST_NOT_FOUND" };
    await expect(watch(deps, newId()).next()).rejects.toMatchObject(refusal);
    await expect(watch(deps, id, { project: other }).next()).rejects.toMatchObject(refusal);
  });

  it("sends a heartbeat with its cursor while nothing happens", async () => {
    const id = await acting().reserve(projectId, dwallet);
    const watching = watch(observed(deaf, { heartbeatMs: 1 }).deps, id);
    const { cursor } = await message(watching.next());
    for (let count = 0; count < 3; count++) {
      expect(await message(watching.next())).toEqual({ row: undefined, cursor });
    }
    await acting().submit(projectId, id);
    expect(await statusOf(watching.next())).toBe("queued");
  });

  it("ends with WATCH_ENDED after its maximum duration, and resumes with the error's cursor", async () => {
    const id = await acting().reserve(projectId, dwallet);
    const watching = watch(observed(deaf, { lifetimeMs: 0 }).deps, id);
    const { cursor } = await message(watching.next());
    await expect(watching.next()).rejects.toMatchObject({ reason: "WATCH_ENDED", metadata: { cursor } });
    expect((await message(watch(observed(deaf).deps, id, { cursor }).next())).row).toBeUndefined();
  });

  it("sends a heartbeat after each interval, and ends exactly when its time is over", async () => {
    const id = await acting().reserve(projectId, dwallet);
    const clock = createPauseClock();
    const pace = { heartbeatMs: 60, lifetimeMs: 100 };
    const watching = watch({ ...observed(deaf, pace).deps, clock }, id);
    const { cursor } = await message(watching.next());
    const heartbeat = watching.next();
    expect(await clock.paused()).toBe(60);
    clock.elapse();
    expect(await message(heartbeat)).toEqual({ row: undefined, cursor });
    const end = watching.next();
    expect(await clock.paused()).toBe(40);
    clock.elapse();
    await expect(end).rejects.toMatchObject({ reason: "WATCH_ENDED" });
  });

  it("sends a heartbeat every 15 seconds and lasts ten minutes by default", async () => {
    const id = await acting().reserve(projectId, dwallet);
    const clock = createPauseClock();
    const { watchPace: _, ...deps } = observed(deaf).deps;
    const watching = watch({ ...deps, clock }, id);
    await watching.next();
    for (let seconds = 15; seconds < 600; seconds += 15) {
      const heartbeat = watching.next();
      expect(await clock.paused()).toBe(15_000);
      clock.elapse();
      expect((await message(heartbeat)).row).toBeUndefined();
    }
    const end = watching.next();
    await clock.paused();
    clock.elapse();
    await expect(end).rejects.toMatchObject({ reason: "WATCH_ENDED" });
  });

  it("sends a slow reader the last change even if its time is over, and only then ends", async () => {
    const id = await acting().reserve(projectId, dwallet);
    const watching = watch(observed(deaf, { lifetimeMs: 0 }).deps, id);
    await watching.next();
    await acting().submit(projectId, id);
    expect(await statusOf(watching.next())).toBe("queued");
    await expect(watching.next()).rejects.toMatchObject({ reason: "WATCH_ENDED" });
  });

  it("ends at once with the reason of its abort, and leaves no listener", async () => {
    const id = await acting().reserve(projectId, dwallet);
    const { deps, idle, listenerCount } = observed(deaf);
    const controller = new AbortController();
    const watching = watch(deps, id, { signal: controller.signal });
    await watching.next();
    const next = watching.next();
    await idle();
    expect(listenerCount()).toBe(1);
    controller.abort(new Error("the server is stopping"));
    await expect(next).rejects.toThrow("the server is stopping");
    expect(listenerCount()).toBe(0);
    await expect(watch(deps, id, { signal: controller.signal }).next()).rejects.toThrow("is stopping");
  });

  it("sends the change to all 1,000 watches of a row, and leaves nothing behind", {
    timeout: 60_000,
  }, async () => {
    const COUNT = 1_000;
    const signals = createLocalSignals();
    open.push(signals);
    const steps = signSteps(database, signals);
    const id = await steps.reserve(projectId, dwallet);
    const { deps, idle, listenerCount, queryCount } = observed(signals);
    const watches = Array.from({ length: COUNT }, () => watch(deps, id));
    await Promise.all(watches.map((watching) => watching.next()));
    const before = queryCount();
    const nexts = watches.map((watching) => watching.next());
    await idle(COUNT);
    // The watches read the database together.
    expect(queryCount() - before).toBe(1);
    await steps.expire(id);
    expect(new Set(await Promise.all(nexts.map(statusOf)))).toEqual(new Set(["failed"]));
    const ends = await Promise.all(watches.map((watching) => watching.next()));
    expect(ends.every(({ done }) => done)).toBe(true);
    expect(listenerCount()).toBe(0);
  });

  async function completed(): Promise<string> {
    const id = await acting().reserve(projectId, dwallet);
    await finish(id);
    return id;
  }

  async function finish(id: string): Promise<void> {
    await acting().submit(projectId, id);
    await acting().land(id);
    await acting().complete(id, dwallet);
  }
});
