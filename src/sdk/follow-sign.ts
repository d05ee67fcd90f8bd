import type { SignRequest, WatchSignResponse } from "../../gen/proto/tss/v1/signing_pb.ts";
import { sleep } from "../protocol/poll.ts";
import type { Action } from "./action.ts";
import { call } from "./call.ts";
import type { ClientContext } from "./context.ts";

/** How often a watch is begun; after that the request is only asked for. */
const WATCH_COUNT = 3;
/** WatchSign sends its first message at once. A proxy that holds streams back sends none. */
const FIRST_MESSAGE_MS = 3_000;
/** WatchSign sends a heartbeat after 15 s without a message. */
const NEXT_MESSAGE_MS = 40_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;
const PAUSE_FACTOR = 1.5;

/**
 * The states of a request, from the given one on, for as long as the caller reads. They come by WatchSign, which is
 * resumed by its cursor when it breaks. Where streams do not get through, GetSign is called after 50 ms and then less
 * and less often, at least every 500 ms. Throws what GetSign fails with, and the reason of the action's signal.
 */
export async function* followSign(
  context: ClientContext,
  action: Action,
  first: SignRequest,
): AsyncGenerator<SignRequest, never, undefined> {
  const { signRequestId } = first;
  const ask = () => call(action, (options) => context.raw.signing.getSign({ signRequestId }, options));
  yield first;
  let cursor = "";
  let pauseMs = FIRST_PAUSE_MS;
  for (let watchCount = 0; ; watchCount++) {
    if (watchCount < WATCH_COUNT) {
      try {
        for await (const message of watch(context, action, { signRequestId, cursor })) {
          cursor = message.cursor;
          // A heartbeat after a long wait: the stream may be of a process that hears of nothing.
          yield message.signRequest ?? (await ask());
        }
      } catch {
        // Whatever it was, GetSign finds it too, or finds the state.
        action.signal.throwIfAborted();
      }
    }
    yield await ask();
    await sleep(pauseMs, action.signal);
    pauseMs = Math.min(pauseMs * PAUSE_FACTOR, LONGEST_PAUSE_MS);
  }
}

/** The messages of one watch. Throws when the stream breaks, and when it is silent for too long. */
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
    // Without a deadline of the call's own: Connect's timer for it outlives a stream that is left before its end.
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
