import {
  type SignRequest,
  SignRequest_Status as Status,
  type WatchSignResponse,
} from "../../../../../gen/client/tss/v1/signing_pb.ts";
import { sleep } from "../../../../protocol/chain/poll.ts";
import { type Action, type ActionOptions, streamAction } from "../../action.ts";
import { checkUuid } from "../../checks.ts";
import type { ClientContext } from "../../context.ts";

/**
 * Yields each state of a sign request and of its hold once, as the service reports it, until the request completes or fails.
 * Intermediate states may be missing; the last one never is. It does not verify the signature; `sign`, `resumeSign` and
 * `resume` do.
 *
 * @throws {TssError} VALIDATION when the id is malformed.
 */
export async function* watchSign(
  context: ClientContext,
  { signRequestId, timeoutMs = 600_000 }: WatchSignArgs,
  options: Pick<ActionOptions, "signal" | "traceparent"> = {},
): AsyncGenerator<SignRequest, void, undefined> {
  checkUuid("signRequestId", signRequestId);
  yield* streamAction(timeoutMs, options, async function* (action) {
    action.facts["signRequestId"] = signRequestId;
    const first = await context.call(action, (callOptions) =>
      context.raw.signing.getSign({ signRequestId }, callOptions),
    );
    const seen = new Set<string>();
    for await (const request of followSign(context, action, first)) {
      const { status, hold } = request;
      const state = `${status}/${hold?.state ?? ""}`;
      if (seen.has(state)) continue;
      seen.add(state);
      yield request;
      if (status === Status.completed || status === Status.failed) return;
    }
  });
}

/** Arguments of `watchSign`. */
export interface WatchSignArgs {
  readonly signRequestId: string;
  /** The time limit of the action, in milliseconds. Default 600,000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Yields the states of a request, from the given one on, as long as the caller reads. They come from WatchSign, which
 * resumes from its cursor after a break. Where streams fail, as on platforms whose fetch has none, it polls GetSign: it
 * waits a tenth of the time that has passed, at least 50 ms and at most 5 s. Ten minutes take about 200 calls. Throws the
 * errors of GetSign, and the reason of the action's signal.
 */
export async function* followSign(
  context: ClientContext,
  action: Action,
  first: SignRequest,
): AsyncGenerator<SignRequest, never, undefined> {
  const { signRequestId } = first;
  const ask = () =>
    context.call(action, (options) => context.raw.signing.getSign({ signRequestId }, options));
  yield first;
  let cursor = "";
  const start = performance.now();
  for (let watchCount = 0; ; watchCount++) {
    if (watchCount < WATCH_COUNT) {
      try {
        for await (const message of watch(context, action, { signRequestId, cursor })) {
          cursor = message.cursor;
          // A heartbeat after a long wait: the stream's process may miss events.
          yield message.signRequest ?? (await ask());
        }
      } catch {
        // GetSign meets the same error, or returns the state.
        action.signal.throwIfAborted();
      }
    }
    yield await ask();
    await sleep(pauseAfter(performance.now() - start), action.signal);
  }
}

/** The number of watches to open before falling back to polling. */
const WATCH_COUNT = 3;
/** WatchSign sends its first message at once. A proxy that holds streams back sends none. */
const FIRST_MESSAGE_MS = 3_000;
/** WatchSign sends a heartbeat after 15 s without a message. */
const NEXT_MESSAGE_MS = 40_000;

/** Returns the wait before the next poll. A poll notices a state at most a tenth later than a stream does. */
export function pauseAfter(passedMs: number): number {
  return Math.min(Math.max(passedMs / 10, 50), 5_000);
}

/** Yields the messages of one watch. Throws when the stream breaks or stays silent too long. */
async function* watch(
  context: ClientContext,
  action: Action,
  request: { readonly signRequestId: string; readonly cursor: string },
): AsyncGenerator<WatchSignResponse, void, undefined> {
  const silence = new AbortController();
  const stop = (): void => silence.abort(new Error("the stream is silent"));
  const signal = AbortSignal.any([action.signal, silence.signal]);
  let timer = setTimeout(stop, FIRST_MESSAGE_MS);
  try {
    // The call has no deadline of its own: Connect's timer outlives a stream that is abandoned early.
    const options = { signal, headers: action.headers };
    for await (const message of context.raw.signing.watchSign(request, options)) {
      clearTimeout(timer);
      yield message;
      timer = setTimeout(stop, NEXT_MESSAGE_MS);
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}
