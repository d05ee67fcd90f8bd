import { ConnectError } from "@connectrpc/connect";
import { MalformedBytesError } from "../../protocol/bytes.ts";
import { PollTimeoutError } from "../../protocol/chain/poll.ts";
import { FinalReadError, NetworkRejectedError } from "../../protocol/chain/read-errors.ts";
import { EngineError } from "../crypto/engine.ts";
import { PartMissingError } from "../crypto/load-part.ts";
import { SecretBytes } from "../crypto/secret-bytes.ts";
import { checkTimeout } from "./checks.ts";
import { fromConnectError, isResumable, TssError, withMetadata } from "./errors.ts";

/** Runs the body under a deadline and converts every error into a {@link TssError}. */
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

/** A running action. */
export interface Action<Stage extends string = string> {
  /** Aborts at the action's deadline, or with the caller's signal. */
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string>>;
  /** Public ids that errors carry, so that the caller can resume the action. */
  readonly facts: Record<string, string>;
  /** Milliseconds to the deadline, 0 or more. */
  remainingMs(): number;
  /** Begins a stage. Throws when the deadline has passed; a blocked thread may notice that late. */
  stage(stage: Stage): void;
  /** Sets the resume token of the current point, for the caller and for errors. */
  resumeAt(token: string): Promise<void>;
  /**
   * Takes ownership of a secret and returns it. The action destroys the secret when it ends, with or without success.
   */
  own<T extends { destroy(): void }>(secret: T): T;
}

/** Options that every action accepts. */
export interface ActionOptions<Stage extends string = string> {
  /**
   * Ends the action with reason ABORTED; the error's `cause` is the signal's reason. Work that the service has already
   * begun continues.
   */
  readonly signal?: AbortSignal | undefined;
  /** Called when each stage begins, with the milliseconds since the action's start, and finally with `done`. */
  readonly onProgress?: ((stage: Stage | "done", elapsedMs: number) => void) | undefined;
  /**
   * Called with each new resume token, and awaited before the step that the token covers. Keep the newest token:
   * `resume` continues from it, also after a restart.
   */
  readonly onResumeToken?: ((token: string) => void | Promise<void>) | undefined;
  /** W3C `traceparent` of the caller's span, sent with every call. A service with tracing continues that trace. */
  readonly traceparent?: string | undefined;
}

/** Like {@link runAction}, for a body that yields values. It also ends when the consumer stops reading. */
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

interface OpenAction<Stage extends string> {
  readonly action: Action<Stage>;
  report(stage: Stage | "done"): void;
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
      if (remainingMs() === 0) throw new PollTimeoutError("the time limit has passed");
      facts["stage"] = stage;
      report(stage);
    },
    async resumeAt(token) {
      resumeToken = token;
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
        return new TssError("ABORTED", `the caller aborted${textOf(cause)}`, {
          metadata,
          resumeToken,
          cause,
        });
      }
      if (timeout.aborted || remainingMs() === 0 || error instanceof PollTimeoutError) {
        const advice = adviceFor(facts, resumeToken);
        return new TssError("TIMEOUT", `not finished within ${timeoutMs} ms${advice}`, {
          metadata,
          resumeToken,
          cause: error,
        });
      }
      const failure = toTssError(error);
      return withMetadata(failure, metadata, isResumable(failure) ? resumeToken : undefined);
    },
    close() {
      for (const secret of owned) secret.destroy();
    },
  };
}

/** A read has nothing to resume. */
function adviceFor(facts: Readonly<Record<string, string>>, resumeToken: string | undefined): string {
  if (resumeToken !== undefined) return "; the action continues, resume it with the error's resumeToken";
  if (facts["idempotencyKey"] !== undefined) return "; repeat it with the same idempotencyKey";
  return "";
}

/** Returns the text of the caller's reason, unless it only says that a signal was aborted. */
function textOf(reason: unknown): string {
  const text = reason instanceof Error && reason.name !== "AbortError" ? reason.message : reason;
  return typeof text === "string" && text !== "" ? `: ${text}` : "";
}

function toTssError(error: unknown): TssError {
  if (error instanceof TssError) return error;
  if (error instanceof FinalReadError) return toTssError(error.cause);
  if (error instanceof ConnectError) return fromConnectError(error);
  if (error instanceof PartMissingError) {
    return new TssError("CODE_UNAVAILABLE", error.message, { cause: error.cause });
  }
  if (error instanceof NetworkRejectedError) {
    const { objectId, state } = error;
    return new TssError("NETWORK_REJECTED", error.message, { metadata: { objectId, state }, cause: error });
  }
  if (error instanceof EngineError || error instanceof MalformedBytesError) {
    return new TssError("CRYPTO_FAILED", error.message, { cause: error });
  }
  return new TssError("INTERNAL", "unexpected failure in the client", { cause: error });
}

/**
 * Copies a seed for the action, which overwrites the copy when it ends. Call it before the action first awaits:
 * otherwise, if the caller overwrites its seed meanwhile, the dWallet's share follows from zeros.
 */
export function ownSeed(action: Pick<Action, "own">, seed: Uint8Array): Uint8Array {
  return action.own(new SecretBytes(Uint8Array.from(seed))).reveal();
}
