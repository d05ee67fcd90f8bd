import type { ActionOptions } from "../sdk/action.ts";
import { TssError } from "../sdk/errors.ts";

/**
 * Creates the state of one hook. It holds what the last action showed: never its arguments, which may be a seed. One
 * action runs at a time: a second one is refused, so that a double click is charged once. When no component listens any
 * more, the running action is aborted, and nothing is shown of it.
 */
export function createMutationStore<Data, Stage extends string>(): MutationStore<Data, Stage> {
  const idle: MutationState<Data, Stage> = {
    status: "idle",
    data: undefined,
    error: undefined,
    progress: undefined,
  };
  const listeners = new Set<() => void>();
  let state: MutationState<Data, Stage> = idle;
  let current: AbortController | undefined;
  let isGone = false;

  function show(next: MutationState<Data, Stage>): void {
    state = next;
    for (const listener of [...listeners]) listener();
  }

  function forget(): void {
    const controller = current;
    current = undefined;
    show(idle);
    controller?.abort();
  }

  return {
    read: () => state,
    readIdle: () => idle,
    subscribe(listener) {
      isGone = false;
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        // React's strict mode leaves and comes back at once.
        queueMicrotask(() => {
          if (listeners.size > 0) return;
          isGone = true;
          forget();
        });
      };
    },
    async run(perform, { signal, onProgress, onSuccess, onError }) {
      if (isGone) throw new TssError("ABORTED", "the component is gone");
      if (current !== undefined) {
        const refusal = new TssError("ALREADY_RUNNING", "an earlier call of this hook still runs");
        later(onError, refusal);
        throw refusal;
      }
      const controller = new AbortController();
      current = controller;
      let progress: MutationProgress<Stage> | undefined;
      /** Ends the action. Returns false if nobody wants to see it any more. */
      const end = (next: MutationState<Data, Stage>): boolean => {
        if (current !== controller) return false;
        current = undefined;
        show(next);
        return true;
      };
      show({ status: "pending", data: undefined, error: undefined, progress });
      try {
        const data = await perform({
          signal: signal ? AbortSignal.any([signal, controller.signal]) : controller.signal,
          onProgress(stage, elapsedMs) {
            progress = { stage, elapsedMs };
            if (current === controller)
              show({ status: "pending", data: undefined, error: undefined, progress });
            onProgress?.(stage, elapsedMs);
          },
        });
        if (end({ status: "success", data, error: undefined, progress })) later(onSuccess, data);
        return data;
      } catch (cause) {
        const error = cause as TssError;
        if (end({ status: "error", data: undefined, error, progress })) later(onError, error);
        throw error;
      }
    },
    abort: (reason) => current?.abort(reason),
    reset: forget,
  };
}

/** The state of one hook. */
export interface MutationStore<Data, Stage extends string> {
  /** Returns the same object until the state changes. */
  read(): MutationState<Data, Stage>;
  /** Returns the state before any action, which a server renders. */
  readIdle(): MutationState<Data, Stage>;
  /** Calls the listener after each change until the returned function is called. */
  subscribe(listener: () => void): () => void;
  /** Runs an action. Rejects with its error, with ALREADY_RUNNING, and with ABORTED if no component listens. */
  run(
    perform: (options: Required<RunOptions<Stage>>) => Promise<Data>,
    options: RunOptions<Stage> & MutationCallbacks<Data>,
  ): Promise<Data>;
  /** Aborts the running action, which then fails with ABORTED. */
  abort(reason?: unknown): void;
  /** Forgets the last action. A running one is aborted. */
  reset(): void;
}

type RunOptions<Stage extends string> = Pick<ActionOptions<Stage>, "signal" | "onProgress">;

/** What to call after an action that the component still shows: not after `reset`, and not when it is gone. */
export interface MutationCallbacks<Data> {
  readonly onSuccess?: ((data: Data) => void) | undefined;
  readonly onError?: ((error: TssError) => void) | undefined;
}

/** The last progress of an action. */
export interface MutationProgress<Stage extends string> {
  /** The stage that has begun, and finally `done`. */
  readonly stage: Stage | "done";
  /** Milliseconds from the action's start to the stage's. */
  readonly elapsedMs: number;
}

/** What a hook shows of its last action. */
export type MutationState<Data, Stage extends string> =
  | {
      readonly status: "idle";
      readonly data: undefined;
      readonly error: undefined;
      readonly progress: undefined;
    }
  | {
      readonly status: "pending";
      readonly data: undefined;
      readonly error: undefined;
      readonly progress: MutationProgress<Stage> | undefined;
    }
  | {
      readonly status: "success";
      readonly data: Data;
      readonly error: undefined;
      readonly progress: MutationProgress<Stage> | undefined;
    }
  | {
      readonly status: "error";
      readonly data: undefined;
      readonly error: TssError;
      /** Where it ended. */
      readonly progress: MutationProgress<Stage> | undefined;
    };

/** Calls a component's function alone, so that its own error is not the action's. */
function later<T>(callback: ((value: T) => void) | undefined, value: T): void {
  if (callback !== undefined) queueMicrotask(() => callback(value));
}
