import { setTimeout } from "node:timers/promises";

/** The budget of time for waiting. */
export class LockWait {
  readonly totalMs: number;
  readonly lockTimeoutMs: number;
  readonly #pauseMs: number;
  readonly #pause: (pauseMs: number) => Promise<unknown>;
  #leftMs: number;
  #leftForTurnMs: number;

  constructor(options: LockWaitOptions) {
    this.totalMs = Math.max(1, options.lockWaitMs ?? LOCK_WAIT_MS);
    this.lockTimeoutMs = Math.max(1, Math.min(options.lockTimeoutMs ?? LOCK_TIMEOUT_MS, this.totalMs));
    this.#pauseMs = options.pauseMs ?? PAUSE_MS;
    this.#pause = options.pause ?? setTimeout;
    this.#leftMs = this.totalMs;
    this.#leftForTurnMs = this.totalMs;
  }

  /** Called while another process migrates. Waits a little and returns true, or returns false at the time limit. */
  async turn(): Promise<boolean> {
    if (this.#leftForTurnMs <= 0) return false;
    const pauseMs = Math.min(TURN_MS, this.#leftForTurnMs);
    this.#leftForTurnMs -= pauseMs;
    await setTimeout(pauseMs);
    return true;
  }

  /** Called after an attempt without a lock. Waits and returns true, or returns false at the time limit. */
  async again(): Promise<boolean> {
    this.#leftMs -= this.lockTimeoutMs + this.#pauseMs;
    if (this.#leftMs < 0) return false;
    await this.#pause(this.#pauseMs);
    return true;
  }
}

/** The time limits of a migration's wait for locks. */
export interface LockWaitOptions {
  /** The total wait of one start for all migrations. Default 5 min. */
  readonly lockWaitMs?: number | undefined;
  /** The longest time that one attempt blocks the statements queued behind it. Default 1 s. */
  readonly lockTimeoutMs?: number | undefined;
  /** The pause between attempts, in which other statements proceed. Default 3 s. */
  readonly pauseMs?: number | undefined;
  /** Replaces the pause in tests. */
  readonly pause?: ((pauseMs: number) => Promise<unknown>) | undefined;
}

const LOCK_WAIT_MS = 300_000;
const LOCK_TIMEOUT_MS = 1_000;
const PAUSE_MS = 3_000;
const TURN_MS = 200;
