import { fetchFullnode } from "../../chain/fullnodes/network-fetch.ts";

/**
 * Returns a fetch with a time limit, so that a fullnode that hangs does not keep the process alive after the checks.
 * Default: the global fetch, with native gRPC.
 */
export function fetchInTime(send: typeof fetch = fetchFullnode): typeof fetch {
  return (input, init) => {
    const deadline = AbortSignal.timeout(CALL_TIMEOUT_MS);
    return send(input, {
      ...init,
      signal: init?.signal ? AbortSignal.any([init.signal, deadline]) : deadline,
    });
  };
}

const CALL_TIMEOUT_MS = 10_000;
