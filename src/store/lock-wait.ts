import { setTimeout } from "node:timers/promises";

/** How a migration waits for locks that others have. */
export interface LockWaitOptions {
  /** All waiting of one start, for every migration together. Default 5 min. */
  readonly lockWaitMs?: number | undefined;
  /** The longest that one attempt keeps everyone else waiting behind it. Default 1 s. */
  readonly lockTimeoutMs?: number | undefined;
  /** Between attempts: the others' turn. Default 3 s. */
  readonly pauseMs?: number | undefined;
  /** For tests that cannot wait. */
  readonly pause?: ((pauseMs: number) => Promise<unknown>) | undefined;
}

const LOCK_WAIT_MS = 300_000;
const LOCK_TIMEOUT_MS = 1_000;
const PAUSE_MS = 3_000;

/** What is left of the time that migrations may wait for locks. */
export class LockWait {
  readonly totalMs: number;
  readonly lockTimeoutMs: number;
  readonly #pauseMs: number;
  readonly #pause: (pauseMs: number) => Promise<unknown>;
  #leftMs: number;

  constructor(options: LockWaitOptions) {
    this.totalMs = Math.max(1, options.lockWaitMs ?? LOCK_WAIT_MS);
    this.lockTimeoutMs = Math.max(1, Math.min(options.lockTimeoutMs ?? LOCK_TIMEOUT_MS, this.totalMs));
    this.#pauseMs = options.pauseMs ?? PAUSE_MS;
    this.#pause = options.pause ?? setTimeout;
    this.#leftMs = this.totalMs;
  }

  /** Called after an attempt that got no lock. Waits and says true, or says false where the time is over. */
  async again(): Promise<boolean> {
    this.#leftMs -= this.lockTimeoutMs + this.#pauseMs;
    if (this.#leftMs < 0) return false;
    await this.#pause(this.#pauseMs);
    return true;
  }
}
