import { ServiceError } from "../../platform/errors/service-error.ts";
import type { ChainNetwork } from "./network.ts";
import { withDeadline } from "./with-deadline.ts";

/**
 * Creates a function that reads from a network's fullnode with a deadline, subject to its back-off, and retries once. A
 * read throws CHAIN_UNAVAILABLE when it fails twice. A ServiceError of the back-off, such as CHAIN_READS_EXHAUSTED, is
 * thrown at once.
 */
export function retryRead({
  backOff,
  times,
  clock,
}: Pick<ChainNetwork, "backOff" | "times" | "clock">): Read {
  return async (call) => {
    const attempt = () =>
      withDeadline(clock, times.readMs, (signal) => backOff.run(() => call(signal), signal));
    try {
      return await attempt().catch((cause: unknown) => {
        if (cause instanceof ServiceError) throw cause;
        return attempt();
      });
    } catch (cause) {
      if (cause instanceof ServiceError) throw cause;
      throw new ServiceError("CHAIN_UNAVAILABLE", "the fullnode does not answer", { cause });
    }
  };
}

/** Runs a read-only call. */
export type Read = <T>(call: (signal: AbortSignal) => Promise<T>) => Promise<T>;
