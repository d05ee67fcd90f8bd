import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import { startThread } from "../../../../../src/service/platform/threads/start-thread.ts";
import {
  createWorkerPool,
  PoolFullError,
  type WorkerPool,
  type WorkerPoolOptions,
} from "../../../../../src/service/platform/threads/worker-pool.ts";
import type { TestJob } from "./test-worker.ts";

const started: Worker[] = [];
let pool: WorkerPool<TestJob, string>;

function open(options: Partial<WorkerPoolOptions> = {}): void {
  pool = createWorkerPool({
    start() {
      const worker = startThread(import.meta.url, "./test-worker", undefined);
      started.push(worker);
      return worker;
    },
    workerMaxCount: 1,
    maxCount: 100,
    subjectMaxCount: 100,
    ...options,
  });
}
afterEach(async () => {
  await pool.close();
  started.length = 0;
});

const answer = (value: string): TestJob => ({ kind: "answer", value });

/** The values in the order in which the jobs end. */
function orderOf(jobs: readonly (readonly [value: string, subject?: string])[]): Promise<string[]> {
  const ended: string[] = [];
  const runs = jobs.map(async ([value, subject]) => {
    ended.push(await pool.run(answer(value), subject));
  });
  return Promise.all(runs).then(() => ended);
}

describe("a pool of threads", { timeout: 60_000 }, () => {
  it("serves subjects in turn, and jobs without a subject first", async () => {
    open();
    expect(await orderOf([["a1", "a"], ["a2", "a"], ["a3", "a"], ["b1", "b"], ["first"]])).toEqual([
      "a1",
      "first",
      "a2",
      "b1",
      "a3",
    ]);
  });

  it("starts at most its maximum of threads, and keeps them", async () => {
    open({ workerMaxCount: 2 });
    const jobs = Array.from({ length: 20 }, (_, at) => [`${at}`, "a"] as const);
    await orderOf(jobs);
    await orderOf(jobs);
    expect(started).toHaveLength(2);
  });

  it("refuses jobs beyond a subject's limit, and keeps the waiting ones", async () => {
    open({ subjectMaxCount: 2 });
    const runs = Array.from({ length: 4 }, (_, at) => pool.run(answer(`${at}`), "a"));
    await expect(runs[3]).rejects.toThrow(PoolFullError);
    expect(await Promise.all(runs.slice(0, 3))).toEqual(["0", "1", "2"]);
  });

  it("fails a job that its thread refuses, and continues with the same thread", async () => {
    open();
    await expect(pool.run({ kind: "refuse" })).rejects.toThrow("it does not like the job");
    expect(await pool.run(answer("next"))).toBe("next");
    expect(started).toHaveLength(1);
  });

  it("fails a job whose thread dies, and continues with another thread", async () => {
    open();
    const dying = pool.run({ kind: "die" });
    const waiting = pool.run(answer("next"));
    await expect(dying).rejects.toThrow("ended before its job");
    expect(await waiting).toBe("next");
    expect(started).toHaveLength(2);
  });

  it("ends a thread that takes too long for a job", async () => {
    open({ jobTimeoutMs: 1 });
    const hanging = pool.run({ kind: "hang" });
    await expect(hanging).rejects.toThrow("ended before its job");
    await once(started[0]!, "exit");
  });

  it("fails the waiting jobs when it closes, refuses new ones, and leaves no thread", async () => {
    open();
    const hanging = pool.run({ kind: "hang" });
    const waiting = pool.run(answer("late"), "a");
    const outcomes = Promise.allSettled([hanging, waiting]);
    await pool.close();
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(pool.run(answer("later"))).rejects.toThrow("is closed");
    expect(started.map(({ threadId }) => threadId)).toEqual([-1]);
  });
});
