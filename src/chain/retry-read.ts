import { ServiceError } from "../errors/service-error.ts";
import type { ChainNetwork } from "./network.ts";
import { withDeadline } from "./with-deadline.ts";

/**
 * Reads from a network's fullnode: with a deadline, within its back-off, and once more if the first try fails. Throws
 * CHAIN_UNAVAILABLE when it fails twice, and at once a ServiceError of the back-off, such as CHAIN_READS_EXHAUSTED.
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

/** Makes a call that only reads. */
export type Read = <T>(call: (signal: AbortSignal) => Promise<T>) => Promise<T>;
