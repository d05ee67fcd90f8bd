import type { Log } from "../telemetry/logger.ts";

/**
 * Starts parts in order and stops them in reverse. A part is registered for its stop as soon as it runs, so that a
 * failed start can be undone with {@link Lifecycle.stop}.
 */
export class Lifecycle {
  readonly #log: LifecycleLog;
  readonly #stopTimeoutMs: number;
  readonly #parts: Part[] = [];
  readonly #announcements: (() => void)[] = [];
  readonly #starting = new Set<Promise<unknown>>();
  #stopped: Promise<boolean> | undefined;
  #isOver = false;

  constructor({ log, stopTimeoutMs = DEFAULT_STOP_TIMEOUT_MS }: LifecycleOptions) {
    this.#log = log;
    this.#stopTimeoutMs = stopTimeoutMs;
  }

  /**
   * Starts a part and registers how it stops.
   * @throws what `start` throws, and Error when the lifecycle is stopping
   */
  async start<T>(
    name: string,
    start: () => Promise<T> | T,
    stop: (part: T) => unknown,
    timeoutMs?: number,
  ): Promise<T> {
    this.#checkRunning(name);
    const starting = this.#begin(name, start, stop, timeoutMs);
    this.#starting.add(starting);
    try {
      return await starting;
    } finally {
      this.#starting.delete(starting);
    }
  }

  /** Registers a function to run when the process stops, before all functions that were registered earlier. */
  onStop(name: string, stop: () => unknown, timeoutMs = this.#stopTimeoutMs): void {
    this.#parts.push({ name, stop, timeoutMs });
    // A part that starts after the stop is stopped too. Otherwise the process would never end.
    if (this.#isOver) void this.#stopParts();
  }

  /** Registers a function to call when the stop begins, before any part stops. */
  onStopping(announce: () => void): void {
    this.#announcements.push(announce);
  }

  /**
   * Stops all parts, the newest first, even if a part fails or takes too long. @returns true if every part stopped in
   * time and without force. Later calls wait for the first.
   */
  stop(): Promise<boolean> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  async #begin<T>(
    name: string,
    start: () => Promise<T> | T,
    stop: (part: T) => unknown,
    timeoutMs: number | undefined,
  ): Promise<T> {
    const beganMs = performance.now();
    const part = await this.#tellFailure(name, start);
    this.onStop(name, () => stop(part), timeoutMs);
    this.#log.info({ part: name, durationMs: Math.round(performance.now() - beganMs) }, "started");
    return part;
  }

  /**
   * Logs a failed start with the part's name, which a driver's error such as `connect ECONNREFUSED` does not contain.
   */
  async #tellFailure<T>(name: string, start: () => Promise<T> | T): Promise<T> {
    try {
      return await start();
    } catch (cause) {
      this.#log.error({ part: name, cause }, "did not start");
      throw cause;
    }
  }

  async #stopAll(): Promise<boolean> {
    let isClean = await this.#awaitStarts();
    for (const announce of this.#announcements) announce();
    isClean = (await this.#stopParts()) && isClean;
    this.#isOver = true;
    return isClean;
  }

  /** Waits for starting parts, within a limit, so that they can be stopped. */
  async #awaitStarts(): Promise<boolean> {
    const stop = () => Promise.allSettled(this.#starting);
    try {
      await withTimeout({ name: "the starting part", stop, timeoutMs: this.#stopTimeoutMs });
      return true;
    } catch (cause) {
      this.#log.error({ cause }, "a part was still starting when the process stopped");
      return false;
    }
  }

  async #stopParts(): Promise<boolean> {
    let isClean = true;
    for (let part = this.#parts.pop(); part !== undefined; part = this.#parts.pop()) {
      const beganMs = performance.now();
      try {
        if ((await withTimeout(part)) === false) isClean = false;
        this.#log.info({ part: part.name, durationMs: Math.round(performance.now() - beganMs) }, "stopped");
      } catch (cause) {
        isClean = false;
        this.#log.error({ part: part.name, cause }, "did not stop");
      }
    }
    return isClean;
  }

  #checkRunning(name: string): void {
    if (this.#stopped !== undefined) throw new Error(`cannot start ${name}: the process is stopping`);
  }
}

export type LifecycleLog = Log;

export interface LifecycleOptions {
  readonly log: LifecycleLog;
  /** The default time limit for stopping a part. Default 10 s. */
  readonly stopTimeoutMs?: number;
}

interface Part {
  readonly name: string;
  readonly stop: () => unknown;
  readonly timeoutMs: number;
}

const DEFAULT_STOP_TIMEOUT_MS = 10_000;

/** Returns the result of a part's stop: `false` means that it used force. */
async function withTimeout({ name, stop, timeoutMs }: Part): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} did not stop within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([stop(), late]);
  } finally {
    clearTimeout(timer);
  }
}
