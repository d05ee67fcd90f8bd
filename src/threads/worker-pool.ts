import type { Worker } from "node:worker_threads";
import { createFairQueue, type FairQueueBounds } from "./fair-queue.ts";

/** Options of {@link createWorkerPool}. */
export interface WorkerPoolOptions extends FairQueueBounds {
  /** Starts a thread that answers each job, one at a time, with a {@link WorkerAnswer}. */
  readonly start: () => Worker;
  /** How many threads there may be. Each is started when there is a job for it, and kept. */
  readonly workerMaxCount: number;
  /** A thread that takes longer for one job is ended, and the job fails. Default 30 s. */
  readonly jobTimeoutMs?: number;
}

/** The answer of a thread to a job. */
export type WorkerAnswer<Result> = { readonly result: Result } | { readonly failure: string };

/** Runs jobs on threads, so that they do not delay the event loop. */
export interface WorkerPool<Job, Result> {
  /**
   * Runs a job in its subject's turn; a job without a subject goes before all others. Rejects with
   * {@link PoolFullError} when too many wait, and with an Error when the thread fails or the pool closes.
   */
  run(job: Job, subject?: string): Promise<Result>;
  /** Fails what waits, ends all threads, and resolves when they have ended. */
  close(): Promise<void>;
}

/** Too many jobs wait already: the subject's own, or everyone's. */
export class PoolFullError extends Error {
  override readonly name = "PoolFullError";
}

interface Task<Job, Result> {
  readonly job: Job;
  resolve(result: Result): void;
  reject(cause: Error): void;
}

const DEFAULT_JOB_TIMEOUT_MS = 30_000;
const NO_SUBJECT = "";

/** A pool without threads yet. */
export function createWorkerPool<Job, Result>(options: WorkerPoolOptions): WorkerPool<Job, Result> {
  const { start, workerMaxCount, jobTimeoutMs = DEFAULT_JOB_TIMEOUT_MS } = options;
  const first = createFairQueue<Task<Job, Result>>({
    maxCount: options.maxCount,
    subjectMaxCount: options.maxCount,
  });
  const others = createFairQueue<Task<Job, Result>>(options);
  const idle: Worker[] = [];
  const workers = new Set<Worker>();
  let isClosed = false;

  return {
    run(job, subject) {
      return new Promise((resolve, reject) => {
        if (isClosed) return reject(new Error("the pool of threads is closed"));
        const task = { job, resolve, reject };
        const queue = subject === undefined ? first : others;
        queue.push(subject ?? NO_SUBJECT, task)?.reject(new PoolFullError("too many jobs wait for a thread"));
        serve();
      });
    },
    async close() {
      isClosed = true;
      for (const task of [...first.clear(), ...others.clear()])
        task.reject(new Error("the pool of threads is closing"));
      await Promise.all([...workers].map((worker) => worker.terminate()));
    },
  };

  function serve(): void {
    while (idle.length > 0 || workers.size < workerMaxCount) {
      const task = first.shift() ?? others.shift();
      if (task === undefined) return;
      try {
        run(idle.pop() ?? add(), task);
      } catch (cause) {
        task.reject(new Error("a thread could not be started", { cause }));
        return;
      }
    }
  }

  function add(): Worker {
    const worker = start();
    workers.add(worker);
    // Between jobs nobody listens, and an "error" that nobody listens to ends the process; "exit" follows it.
    worker.on("error", () => {});
    worker.once("exit", () => {
      workers.delete(worker);
      const at = idle.indexOf(worker);
      if (at >= 0) idle.splice(at, 1);
      if (!isClosed) serve();
    });
    return worker;
  }

  function run(worker: Worker, task: Task<Job, Result>): void {
    const timer = setTimeout(() => {
      onEnd(new Error(`a thread took longer than ${jobTimeoutMs} ms`));
      void worker.terminate();
    }, jobTimeoutMs);
    const onMessage = (answer: WorkerAnswer<Result>) => {
      release();
      // A pool that waits for its next job does not keep the process alive.
      worker.unref();
      idle.push(worker);
      if ("result" in answer) task.resolve(answer.result);
      else task.reject(new Error(answer.failure));
      if (!isClosed) serve();
    };
    const onEnd = (cause?: unknown) => {
      release();
      task.reject(new Error("a thread ended before its job", { cause }));
    };
    const release = () => {
      clearTimeout(timer);
      worker.off("message", onMessage).off("error", onEnd).off("exit", onEnd);
    };
    worker.on("message", onMessage).on("error", onEnd).on("exit", onEnd);
    worker.ref();
    worker.postMessage(task.job);
  }
}
