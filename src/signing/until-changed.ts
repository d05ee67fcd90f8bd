import type { Signals } from "../coordination/signals.ts";
import { topics } from "../coordination/topics.ts";
import type { Clock } from "../lifecycle/clock.ts";
import type { BatchedLooks, SignFollower } from "./batched-looks.ts";
import type { SignRevision } from "./shown-sign-request.ts";

/**
 * Waits until a sign request differs from the seen revision, `untilMs` is reached, or the signal fires. The time does
 * not end the wait before the first look. Resolves with whether the request has changed. Rejects if a look fails.
 */
export function untilChanged(
  deps: ChangeWaitDeps,
  { id, seen }: { readonly id: string; readonly seen: SignRevision },
  { untilMs, signal }: { readonly untilMs: number; readonly signal: WaitEnding },
): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve, reject) => new Wait(deps, id, seen, untilMs, signal, resolve, reject));
}

export interface ChangeWaitDeps {
  /** Shared by all watches of the process. */
  readonly looks: BatchedLooks;
  readonly clock: Clock;
  readonly signals: Pick<Signals, "subscribe">;
}

/** Fires when the caller no longer waits: an `AbortSignal`, or the part of one that a wait needs. */
export interface WaitEnding {
  readonly aborted: boolean;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: { handleEvent(): void }, options: { readonly once: true }): void;
  removeEventListener(type: "abort", listener: { handleEvent(): void }): void;
}

/** A class instead of closures, which take more memory: each idle watch has one. */
class Wait implements SignFollower {
  readonly id: string;
  readonly seen: SignRevision;
  readonly #looks: BatchedLooks;
  readonly #clock: Clock;
  readonly #untilMs: number;
  readonly #signal: WaitEnding;
  readonly #resolve: (hasChanged: boolean) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #unsubscribe: () => void;
  #cancelTimer: (() => void) | undefined;

  constructor(
    { looks, clock, signals }: ChangeWaitDeps,
    id: string,
    seen: SignRevision,
    untilMs: number,
    signal: WaitEnding,
    resolve: (hasChanged: boolean) => void,
    reject: (reason: unknown) => void,
  ) {
    this.id = id;
    this.seen = seen;
    this.#looks = looks;
    this.#clock = clock;
    this.#untilMs = untilMs;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener("abort", this, { once: true });
    this.#unsubscribe = signals.subscribe(topics.sign(id), () => looks.lookNow(this));
    // The listener is in place, so no change is lost between the look and the wait.
    looks.follow(this);
  }

  looked(hasChanged: boolean): void {
    if (hasChanged) this.#end(true);
    else
      this.#cancelTimer ??= this.#clock.after(Math.max(0, this.#untilMs - this.#clock.now()), () =>
        this.#end(false),
      );
  }

  failed(reason: unknown): void {
    this.#reject(reason);
    this.#end(false);
  }

  /** Called when the signal fires. */
  handleEvent(): void {
    this.#end(false);
  }

  #end(hasChanged: boolean): void {
    this.#cancelTimer?.();
    this.#unsubscribe();
    this.#signal.removeEventListener("abort", this);
    this.#looks.leave(this);
    this.#resolve(hasChanged);
  }
}
