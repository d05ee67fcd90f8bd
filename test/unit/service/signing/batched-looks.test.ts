import { describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Queryable } from "../../../../src/service/platform/store/database.ts";
import { createBatchedLooks, type SignFollower } from "../../../../src/service/signing/batched-looks.ts";
import { createManualClock } from "../../../support/manual-clock.ts";

const NEVER_MS = 1_000_000_000;

/** A request that has changed, without its id. */
const CHANGED = {
  status: "queued",
  curve: 0,
  signatureAlgorithm: 0,
  hashScheme: 0,
  message: new Uint8Array(),
  priceMicroUsd: 1n,
  txDigest: null,
  signSessionId: null,
  signature: null,
  failureReason: null,
  failureMessage: null,
  refunded: false,
  expiresAt: new Date(0),
  createdAt: new Date(0),
  updatedAt: new Date(1),
  dwalletId: "dwallet",
  presignId: "presign",
  userReference: null,
  activeHolders: [],
  holdSeconds: null,
  holdState: null,
  holdPriceMicroUsd: 0n,
  holdExpiresAt: null,
  holdTxDigest: null,
  submittedAt: null,
  sentAt: null,
  landedAt: null,
};

/** A database whose queries the test answers. */
function asked() {
  const waiting: ((query: Query) => void)[] = [];
  const queries: Query[] = [];
  const db: Queryable = {
    query: <Row>(_: string, [ids]: readonly unknown[] = []) =>
      new Promise<Row[]>((resolve, reject) => {
        const answer = (places: readonly number[]) =>
          resolve(places.map((place) => ({ ...CHANGED, id: (ids as string[])[place - 1], place })) as Row[]);
        const query = { ids: ids as string[], answer, reject };
        const next = waiting.shift();
        if (next === undefined) queries.push(query);
        else next(query);
      }),
  };
  const next = () =>
    new Promise<Query>((resolve) => {
      const query = queries.shift();
      if (query === undefined) waiting.push(resolve);
      else resolve(query);
    });
  return { db, next };
}

interface Query {
  readonly ids: readonly string[];
  /** Answers with the positions of the changed requests. */
  answer(places: readonly number[]): void;
  reject(reason: unknown): void;
}

function follower(id: string) {
  const heard: unknown[] = [];
  let hear: () => void = () => {};
  const one: SignFollower = {
    id,
    seen: { status: "prepared", updatedAt: new Date(0) },
    looked(row) {
      heard.push(row?.id);
      hear();
    },
    failed(reason) {
      heard.push(reason);
      hear();
    },
  };
  const told = () =>
    new Promise<void>((resolve) => {
      hear = resolve;
    });
  return { one, heard, told };
}

describe("batched reads of watches", () => {
  it("notify each follower of its own request, and stop after a change", async () => {
    const { db, next } = asked();
    const looks = createBatchedLooks(db, systemClock, 1);
    const [a, b] = [follower("a"), follower("b")];
    looks.follow(a.one);
    looks.follow(b.one);
    const first = await next();
    expect(first.ids).toEqual(["a", "b"]);
    first.answer([2]);
    const second = await next();
    expect(second.ids).toEqual(["a"]);
    expect([a.heard, b.heard]).toEqual([[undefined], ["b"]]);
    looks.leave(a.one);
    second.answer([1]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(a.heard).toEqual([undefined]);
  });

  it("are repeated for a follower that is notified during a query", async () => {
    const { db, next } = asked();
    const looks = createBatchedLooks(db, systemClock, NEVER_MS);
    const { one, heard, told } = follower("a");
    looks.follow(one);
    const query = await next();
    looks.lookNow(one);
    query.answer([]);
    const again = await next();
    expect(heard).toEqual([undefined]);
    again.answer([1]);
    await told();
    expect(heard).toEqual([undefined, "a"]);
  });

  it("that fail end only their own followers", async () => {
    const { db, next } = asked();
    const looks = createBatchedLooks(db, systemClock, NEVER_MS);
    const [a, b] = [follower("a"), follower("b")];
    looks.follow(a.one);
    const query = await next();
    looks.follow(b.one);
    query.reject("away");
    const second = await next();
    expect(second.ids).toEqual(["b"]);
    second.answer([1]);
    await b.told();
    expect([a.heard, b.heard]).toEqual([["away"], ["b"]]);
  });

  it("are repeated after the interval, together for those that are due within a tenth of it", async () => {
    const { db, next } = asked();
    const clock = createManualClock();
    const looks = createBatchedLooks(db, clock, 1_000);
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    /** Answers the query that starts now and ends the pause after it. */
    const answered = async (ids: readonly string[]) => {
      const query = await next();
      expect(query.ids).toEqual(ids);
      query.answer([]);
      await settle();
      clock.advance(50);
      await settle();
    };
    const followers = ["a", "b", "c"].map(follower);
    looks.follow(followers[0]!.one);
    await answered(["a"]);
    clock.advance(50);
    looks.follow(followers[1]!.one);
    await answered(["b"]);
    looks.follow(followers[2]!.one);
    await answered(["c"]);
    // The first look was at 0, the others at 100 and at 150.
    clock.advance(799);
    await settle();
    expect(followers.map(({ heard }) => heard.length)).toEqual([1, 1, 1]);
    clock.advance(1);
    await answered(["a", "b"]);
    clock.advance(99);
    expect(followers[2]!.heard).toHaveLength(1);
    clock.advance(1);
    await answered(["c"]);
    for (const { one } of followers) looks.leave(one);
    expect(clock.timerCount).toBe(0);
  });
});
