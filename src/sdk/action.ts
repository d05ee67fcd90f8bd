import { ConnectError } from "@connectrpc/connect";
import { EngineError } from "../crypto/engine.ts";
import { MalformedBytesError } from "../protocol/bytes.ts";
import { FinalReadError } from "../protocol/chain-reader.ts";
import { PollTimeoutError } from "../protocol/poll.ts";
import { NetworkRejectedError } from "../protocol/poll-object.ts";
import { checkTimeout } from "./checks.ts";
import { fromConnectError, TssError, withMetadata } from "./errors.ts";

/** What every action takes beside its arguments. */
export interface ActionOptions<Stage extends string = string> {
  /** Ends the action with reason ABORTED. What the service was asked for goes on. */
  readonly signal?: AbortSignal | undefined;
  /** Called when a stage begins, with the time since the action's start; at last with `done`. */
  readonly onProgress?: ((stage: Stage | "done", elapsedMs: number) => void) | undefined;
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
  /** Takes a secret over: it is destroyed when the action ends, however it ends. Returns it. */
  own<T extends { destroy(): void }>(secret: T): T;
}

/** Runs the body under a deadline, and turns whatever it throws into a {@link TssError}. */
export async function runAction<Stage extends string, R>(
  timeoutMs: number,
  options: ActionOptions<Stage>,
  body: (action: Action<Stage>) => Promise<R>,
): Promise<R> {
  checkTimeout(timeoutMs);
  const start = performance.now();
  const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
  const signal = options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]);
  const facts: Record<string, string> = {};
  const owned: { destroy(): void }[] = [];
  const remainingMs = (): number => Math.max(0, timeoutMs - (performance.now() - start));
  const report = (stage: Stage | "done"): void => options.onProgress?.(stage, performance.now() - start);
  try {
    const result = await body({
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
      own(secret) {
        owned.push(secret);
        return secret;
      },
    });
    report("done");
    return result;
  } catch (error) {
    if (options.signal?.aborted === true) {
      throw new TssError("ABORTED", "the caller aborted", { metadata: facts, cause: options.signal.reason });
    }
    if (timeout.aborted || remainingMs() === 0 || error instanceof PollTimeoutError) {
      throw new TssError(
        "TIMEOUT",
        `not done within ${timeoutMs} ms; it goes on and can be picked up by its id`,
        {
          metadata: facts,
          cause: error,
        },
      );
    }
    throw withMetadata(toTssError(error), facts);
  } finally {
    for (const secret of owned) secret.destroy();
  }
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
