import type { Signals } from "../coordination/signals.ts";
import { topics } from "../coordination/topics.ts";
import type { BatchedLooks, SignFollower } from "./batched-looks.ts";
import type { SignRevision } from "./shown-sign-request.ts";

/**
 * Waits until a sign request is no longer as it was seen, until a time, which comes after the first look at the
 * earliest, or until the signal fires. Resolves with whether it has changed; rejects when a look fails.
 */
export function untilChanged(
  { looks, signals }: { readonly looks: BatchedLooks; readonly signals: Pick<Signals, "subscribe"> },
  { id, seen }: { readonly id: string; readonly seen: SignRevision },
  { untilMs, signal }: { readonly untilMs: number; readonly signal: AbortSignal },
): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const end = (hasChanged: boolean) => {
      clearTimeout(timer);
      unsubscribe();
      signal.removeEventListener("abort", onTime);
      looks.leave(follower);
      resolve(hasChanged);
    };
    const onTime = () => end(false);
    const follower: SignFollower = {
      id,
      seen,
      looked(hasChanged) {
        if (hasChanged) end(true);
        else timer ??= setTimeout(onTime, Math.max(0, untilMs - performance.now()));
      },
      failed(reason) {
        reject(reason);
        end(false);
      },
    };
    const unsubscribe = signals.subscribe(topics.sign(id), () => looks.lookNow(follower));
    signal.addEventListener("abort", onTime, { once: true });
    // The listener stands by now, so that nothing is lost between looking and listening.
    looks.follow(follower);
  });
}
