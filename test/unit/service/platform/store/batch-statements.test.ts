import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it, vi } from "vitest";
import {
  ALONE,
  batchStatements,
  type StatementKind,
} from "../../../../../src/service/platform/store/batch-statements.ts";
import type { Queryable } from "../../../../../src/service/platform/store/database.ts";

const newDatabase = (): Queryable => ({ query: async () => [] });
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A kind of statement that the test answers. Items are a subject and a number. */
function asked(options: Partial<StatementKind<string, string>> = {}) {
  const statements: Statement[] = [];
  const call = batchStatements<string, string>({
    subjectOf: ([subject = ""]) => subject,
    run: (db, items) =>
      new Promise((resolve, reject) => {
        const answer = () => resolve(items.map((item) => `${item}!`));
        statements.push({ db, items, answer, answerWith: resolve, reject });
      }),
    ...options,
  });
  /** Returns the statement that runs now. */
  const next = async () => {
    await turn();
    await turn();
    const [statement, ...others] = statements.splice(0);
    if (statement === undefined || others.length > 0) throw new Error("there is not one statement");
    return statement;
  };
  return { call, next, statements };
}

interface Statement {
  readonly db: Queryable;
  readonly items: readonly string[];
  /** Answers each item. */
  answer(): void;
  answerWith(results: readonly (string | typeof ALONE)[]): void;
  reject(reason: unknown): void;
}

const settled = (calls: readonly Promise<string>[]) =>
  Promise.all(calls.map((call) => call.catch((reason: Error) => reason.message)));

describe("calls of one kind", () => {
  it("do not wait more than five seconds for a statement that gets no reply", async () => {
    const { call, statements } = asked();
    const db = newDatabase();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      void call(db, "a1");
      await turn();
      const later = call(db, "b1");
      await vi.advanceTimersByTimeAsync(4_999);
      expect(statements.map(({ items }) => items)).toEqual([["a1"]]);
      await vi.advanceTimersByTimeAsync(1);
      expect(statements.map(({ items }) => items)).toEqual([["a1"], ["b1"]]);
      statements[1]?.answer();
      expect(await later).toBe("b1!");
    } finally {
      vi.useRealTimers();
    }
  });

  it("share a statement if they arrive in one turn, and each gets its own result", async () => {
    const { call, next } = asked();
    const db = newDatabase();
    const calls = ["a1", "b1", "a2"].map((item) => call(db, item));
    const { items, answer } = await next();
    expect(items).toEqual(["a1", "b1", "a2"]);
    answer();
    expect(await Promise.all(calls)).toEqual(["a1!", "b1!", "a2!"]);
  });

  it("share the next statement if they arrive while one runs", async () => {
    const { call, next, statements } = asked();
    const db = newDatabase();
    const first = call(db, "a1");
    const running = await next();
    const later = ["a2", "b1"].map((item) => call(db, item));
    await turn();
    await turn();
    expect(statements).toEqual([]);
    running.answer();
    expect(await first).toBe("a1!");
    const { items, answer } = await next();
    expect(items).toEqual(["a2", "b1"]);
    answer();
    expect(await Promise.all(later)).toEqual(["a2!", "b1!"]);
    const alone = call(db, "a3");
    (await next()).answer();
    expect(await alone).toBe("a3!");
  });

  it("share nothing with calls on another database", async () => {
    const { call, statements } = asked();
    const [one, other] = [newDatabase(), newDatabase()];
    const calls = [call(one, "a1"), call(other, "a2")];
    await turn();
    await turn();
    expect(statements.map(({ db, items }) => [db === one, items])).toEqual([
      [true, ["a1"]],
      [false, ["a2"]],
    ]);
    for (const { answer } of statements) answer();
    expect(await Promise.all(calls)).toEqual(["a1!", "a2!"]);
  });

  it("take turns by subject, in the order of each subject's calls", async () => {
    const { call, next } = asked({ batchMaxCount: 3 });
    const db = newDatabase();
    const calls = ["a1", "a2", "a3", "a4", "b1"].map((item) => call(db, item));
    const first = await next();
    expect(first.items).toEqual(["a1", "b1", "a2"]);
    first.answer();
    const second = await next();
    expect(second.items).toEqual(["a3", "a4"]);
    second.answer();
    await Promise.all(calls);
  });

  it("are bounded: the newest call of the subject with the most calls fails", async () => {
    const { call, next } = asked({ waitingMaxCount: 3 });
    const db = newDatabase();
    const calls = ["a1", "a2", "a3", "b1"].map((item) => call(db, item));
    const refused = expect(calls[2]).rejects.toMatchObject({ reason: "DATABASE_UNAVAILABLE" });
    const { items, answer } = await next();
    expect(items).toEqual(["a1", "b1", "a2"]);
    answer();
    await refused;
    expect(await Promise.all([calls[0], calls[1], calls[3]])).toEqual(["a1!", "a2!", "b1!"]);
  });

  it("run alone after a failed statement, so that a bad one does not fail its neighbours", async () => {
    const { call, next } = asked();
    const db = newDatabase();
    const calls = settled(["a1", "bad", "a2"].map((item) => call(db, item)));
    (await next()).reject(new Error("together"));
    for (const item of ["a1", "bad", "a2"]) {
      const single = await next();
      expect(single.items).toEqual([item]);
      if (item === "bad") single.reject(new Error("it is bad"));
      else single.answer();
    }
    expect(await calls).toEqual(["a1!", "it is bad", "a2!"]);
  });

  it("run alone if the statement does not answer each of them", async () => {
    const { call, next } = asked();
    const db = newDatabase();
    const calls = Promise.all(["a1", "a2"].map((item) => call(db, item)));
    (await next()).answerWith(["a1!"]);
    (await next()).answer();
    (await next()).answer();
    expect(await calls).toEqual(["a1!", "a2!"]);
  });

  it("run alone if the statement leaves them, after the others have their results", async () => {
    const { call, next } = asked();
    const db = newDatabase();
    const [left, other] = [call(db, "a1"), call(db, "a2")];
    (await next()).answerWith([ALONE, "a2!"]);
    expect(await other).toBe("a2!");
    const again = await next();
    expect(again.items).toEqual(["a1"]);
    again.answer();
    expect(await left).toBe("a1!");
  });

  it("fail if the statement leaves its only call", async () => {
    const { call, next, statements } = asked();
    const refused = expect(call(newDatabase(), "a1")).rejects.toThrow("left its only call");
    (await next()).answerWith([ALONE]);
    await refused;
    expect(statements).toEqual([]);
  });

  it("share a statement with their line only, and wait for no other line", async () => {
    const { call, next } = asked({ lineOf: ([line = ""]) => line });
    const db = newDatabase();
    const first = call(db, "a1");
    const running = await next();
    const [same, others] = [call(db, "a2"), ["b1", "b2"].map((item) => call(db, item))];
    const beside = await next();
    expect(beside.items).toEqual(["b1", "b2"]);
    beside.answer();
    expect(await Promise.all(others)).toEqual(["b1!", "b2!"]);
    running.answer();
    expect(await first).toBe("a1!");
    (await next()).answer();
    expect(await same).toBe("a2!");
  });

  it("all fail if the database does not answer, because the statement may have been committed", async () => {
    const { call, next, statements } = asked();
    const db = newDatabase();
    const calls = settled(["a1", "a2"].map((item) => call(db, item)));
    (await next()).reject(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
    expect(await calls).toEqual(["reset", "reset"]);
    await turn();
    expect(statements).toEqual([]);
  });

  it("are in no statement if their caller has left before it begins, together or alone", async () => {
    const leaving = new Map(["a2", "b1"].map((item) => [item, new AbortController()]));
    const { call, next, statements } = asked({ signalOf: (item) => leaving.get(item)?.signal });
    const db = newDatabase();
    const calls = settled(["a1", "a2", "b1"].map((item) => call(db, item)));
    leaving.get("a2")?.abort(new Error("a2 has left"));
    const { items, answerWith } = await next();
    expect(items).toEqual(["a1", "b1"]);
    leaving.get("b1")?.abort(new Error("b1 has left"));
    answerWith(["a1!", ALONE]);
    expect(await calls).toEqual(["a1!", "a2 has left", "b1 has left"]);
    await turn();
    expect(statements).toEqual([]);
  });

  it("run in the trace of the first call of their statement", async () => {
    const trace = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const call = batchStatements<string, string>({
      subjectOf: () => "",
      batchMaxCount: 1,
      async run(_, items) {
        seen.push(trace.getStore());
        return items;
      },
    });
    const db = newDatabase();
    await Promise.all(["one", "other"].map((name) => trace.run(name, () => call(db, name))));
    expect(seen).toEqual(["one", "other"]);
  });
});
