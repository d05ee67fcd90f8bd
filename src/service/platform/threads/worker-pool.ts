import type { Worker } from "node:worker_threads";
import { createFairQueue, type FairQueueBounds } from "./fair-queue.ts";

/** Creates a pool that starts its threads on demand. */
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
    // Between jobs there is no other listener, and an unhandled "error" event would end the process. "exit" follows it.
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
      // An idle pool does not keep the process alive.
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

export interface WorkerPoolOptions extends FairQueueBounds {
  /** Starts a thread that answers each job, one at a time, with a {@link WorkerAnswer}. */
  readonly start: () => Worker;
  /** The maximum number of threads. A thread starts when a job needs it, and then stays. */
  readonly workerMaxCount: number;
  /** The time limit of a job. Beyond it the job fails and its thread is terminated. Default 30 s. */
  readonly jobTimeoutMs?: number;
}

/** The answer of a thread to a job. */
export type WorkerAnswer<Result> = { readonly result: Result } | { readonly failure: string };

/** Runs jobs on threads, so that they do not delay the event loop. */
export interface WorkerPool<Job, Result> {
  /**
   * Runs a job in its subject's turn. Jobs without a subject come before all others. Rejects with
   * {@link PoolFullError} if too many jobs wait, and with an Error if the thread fails or the pool closes.
   */
  run(job: Job, subject?: string): Promise<Result>;
  /** Fails all waiting jobs and terminates all threads. Resolves when they have ended. */
  close(): Promise<void>;
}

/** Thrown if too many jobs wait, of one subject or in total. */
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
