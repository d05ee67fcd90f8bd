import { ConnectError } from "@connectrpc/connect";
import { EngineError } from "../crypto/engine.ts";
import { MalformedBytesError } from "../protocol/bytes.ts";
import { FinalReadError } from "../protocol/chain-reader.ts";
import { PollTimeoutError } from "../protocol/poll.ts";
import { NetworkRejectedError } from "../protocol/poll-object.ts";
import { checkTimeout } from "./checks.ts";
import { fromConnectError, isResumable, TssError, withMetadata } from "./errors.ts";
import { encodeResumeToken, type ResumePoint } from "./resume-token.ts";

/** What every action takes beside its arguments. */
export interface ActionOptions<Stage extends string = string> {
  /** Ends the action with reason ABORTED. What the service was asked for goes on. */
  readonly signal?: AbortSignal | undefined;
  /** Called when a stage begins, with the time since the action's start; at last with `done`. */
  readonly onProgress?: ((stage: Stage | "done", elapsedMs: number) => void) | undefined;
  /**
   * Called with each token that `resume` goes on with, and awaited before the step that the token stands for. Whoever keeps
   * the newest one can go on after this process was killed.
   */
  readonly onResumeToken?: ((token: string) => void | Promise<void>) | undefined;
  /** W3C `traceparent` of the caller's span, sent with every call: a service that traces goes on with that trace. */
  readonly traceparent?: string | undefined;
}

/** One action under way. */
export interface Action<Stage extends string = string> {
  /** Aborts at the action's deadline, or with the caller's signal. */
  readonly signal: AbortSignal;
  /** Sent with every call. */
  readonly headers: Readonly<Record<string, string>>;
  /** Public ids that errors carry, so that the caller can pick the action up again. */
  readonly facts: Record<string, string>;
  /** Milliseconds to the deadline, 0 or more. */
  remainingMs(): number;
  /** Begins a stage. Throws when the time is up, which a blocked thread may find out late. */
  stage(stage: Stage): void;
  /** Says where to go on from here on, to the caller and in errors. */
  resumeAt(point: ResumePoint): Promise<void>;
  /** Takes a secret over: it is destroyed when the action ends, however it ends. Returns it. */
  own<T extends { destroy(): void }>(secret: T): T;
}

/** Runs the body under a deadline, and turns whatever it throws into a {@link TssError}. */
export async function runAction<Stage extends string, R>(
  timeoutMs: number,
  options: ActionOptions<Stage>,
  body: (action: Action<Stage>) => Promise<R>,
): Promise<R> {
  const open = openAction(timeoutMs, options);
  try {
    const result = await body(open.action);
    open.report("done");
    return result;
  } catch (error) {
    throw open.failure(error);
  } finally {
    open.close();
  }
}

/** Like {@link runAction}, for a body that gives values as it goes. It also ends when its reader leaves. */
export async function* streamAction<T>(
  timeoutMs: number,
  options: ActionOptions,
  body: (action: Action) => AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  const open = openAction(timeoutMs, options);
  try {
    yield* body(open.action);
  } catch (error) {
    throw open.failure(error);
  } finally {
    open.close();
  }
}

/** An action from its start to its end. */
interface OpenAction<Stage extends string> {
  readonly action: Action<Stage>;
  report(stage: Stage | "done"): void;
  /** What the caller is told of an error. */
  failure(error: unknown): TssError;
  close(): void;
}

function openAction<Stage extends string>(
  timeoutMs: number,
  options: ActionOptions<Stage>,
): OpenAction<Stage> {
  checkTimeout(timeoutMs);
  const start = performance.now();
  const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
  const signal = options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]);
  const facts: Record<string, string> = {};
  const owned: { destroy(): void }[] = [];
  let resumeToken: string | undefined;
  const remainingMs = (): number => Math.max(0, timeoutMs - (performance.now() - start));
  const report = (stage: Stage | "done"): void => options.onProgress?.(stage, performance.now() - start);
  const action: Action<Stage> = {
    signal,
    headers: options.traceparent === undefined ? {} : { traceparent: options.traceparent },
    facts,
    remainingMs,
    stage(stage) {
      options.signal?.throwIfAborted();
      if (remainingMs() === 0) throw new PollTimeoutError("time is up");
      facts["stage"] = stage;
      report(stage);
    },
    async resumeAt(point) {
      resumeToken = encodeResumeToken(point);
      await options.onResumeToken?.(resumeToken);
    },
    own(secret) {
      owned.push(secret);
      return secret;
    },
  };
  return {
    action,
    report,
    failure(error) {
      const metadata = facts;
      if (options.signal?.aborted === true) {
        const cause = options.signal.reason;
        return new TssError("ABORTED", "the caller aborted", { metadata, resumeToken, cause });
      }
      if (timeout.aborted || remainingMs() === 0 || error instanceof PollTimeoutError) {
        return new TssError(
          "TIMEOUT",
          `not done within ${timeoutMs} ms; it goes on and can be picked up by its id`,
          { metadata, resumeToken, cause: error },
        );
      }
      const failure = toTssError(error);
      return withMetadata(failure, metadata, isResumable(failure) ? resumeToken : undefined);
    },
    close() {
      for (const secret of owned) secret.destroy();
    },
  };
}

function toTssError(error: unknown): TssError {
  if (error instanceof TssError) return error;
  if (error instanceof FinalReadError) return toTssError(error.cause);
  if (error instanceof ConnectError) return fromConnectError(error);
  if (error instanceof NetworkRejectedError) {
    const { objectId, state } = error;
    return new TssError("NETWORK_REJECTED", error.message, { metadata: { objectId, state }, cause: error });
  }
  if (error instanceof EngineError || error instanceof MalformedBytesError) {
    return new TssError("CRYPTO_FAILED", error.message, { cause: error });
  }
  return new TssError("INTERNAL", "unexpected failure in the client", { cause: error });
}
