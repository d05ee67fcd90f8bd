import { type SignRequest, SignRequest_Status as Status } from "../../../gen/client/tss/v1/signing_pb.ts";
import type { Session } from "./session.ts";

/**
 * Follows a sign request with WatchSign until it is final. Reopens a broken stream from its cursor, with exponential
 * back-off. Rejects with the signal's reason if it aborts, and with the error of a permanent refusal.
 */
export async function followSignRequest(
  signing: Pick<Session["signing"], "watchSign">,
  signRequestId: string,
  { signal, pause, isRefusal, tell }: FollowOptions,
): Promise<void> {
  let cursor = "";
  for (let failureCount = 0; ; ) {
    try {
      for await (const message of signing.watchSign({ signRequestId, cursor }, { signal, timeoutMs: 0 })) {
        failureCount = 0;
        cursor = message.cursor;
        if (message.signRequest === undefined) continue;
        tell(message.signRequest);
        if (isFinal(message.signRequest)) return;
      }
    } catch (cause) {
      signal.throwIfAborted();
      if (isRefusal(cause)) throw cause;
      failureCount++;
    }
    await pause(Math.min(FIRST_PAUSE_MS * 2 ** failureCount, LONGEST_PAUSE_MS), signal);
  }
}

interface FollowOptions {
  readonly signal: AbortSignal;
  /** Waits. Rejects when the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
  /** Returns true if a retry cannot succeed. */
  isRefusal(cause: unknown): boolean;
  /** Called with each state from the stream. */
  tell(request: SignRequest): void;
}

/** Returns true if the request can no longer change. */
export function isFinal({ status }: Pick<SignRequest, "status">): boolean {
  return status === Status.completed || status === Status.failed;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
