import { expect, it } from "vitest";
import { createRecentReads } from "../../../../../src/service/operator/history/operations-service.ts";
import type { Queryable } from "../../../../../src/service/platform/store/database.ts";

function setUp() {
  const statements: string[] = [];
  let open = 0;
  let mostOpen = 0;
  const db: Queryable = {
    async query(statement) {
      statements.push(statement);
      return [];
    },
  };
  const database = {
    async transaction<T>(work: (handle: Queryable) => Promise<T>): Promise<T> {
      open++;
      mostOpen = Math.max(mostOpen, open);
      try {
        return await work(db);
      } finally {
        open--;
      }
    },
  };
  let nowMs = 0;
  const reads = createRecentReads(database, { freshMs: 1_000, timeoutMs: 700, now: () => nowMs });
  let count = 0;
  const read = (name: string) => reads.read(name, async () => ++count);
  return {
    reads,
    read,
    statements,
    mostOpen: () => mostOpen,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

it("a result is read again only when it is no longer fresh", async () => {
  const { read, pass } = setUp();
  expect(await read("lanes")).toBe(1);
  pass(999);
  expect(await read("lanes")).toBe(1);
  pass(1);
  expect(await read("lanes")).toBe(2);
});

it("simultaneous callers with the same arguments share a reading, and others get their own", async () => {
  const { read } = setUp();
  expect(await Promise.all([read("a"), read("a"), read("b")])).toEqual([1, 1, 2]);
});

it("readings run one after another, however many are requested", async () => {
  const { read, mostOpen } = setUp();
  await Promise.all(Array.from({ length: 20 }, (_, index) => read(String(index))));
  expect(mostOpen()).toBe(1);
});

it("a failed reading is not cached, and does not delay others", async () => {
  const { reads, read } = setUp();
  const failing = reads.read("a", () => Promise.reject(new Error("no")));
  const other = read("b");
  await expect(failing).rejects.toThrow("no");
  expect(await other).toBe(1);
  expect(await read("a")).toBe(2);
});

it("a reading's statements have a time limit", async () => {
  const { read, statements } = setUp();
  await read("a");
  expect(statements).toEqual(["SET LOCAL statement_timeout = 700"]);
});
