/** A fetch with a time limit, so that a fullnode that hangs does not keep the process alive after the checks. */
export const fetchInTime: typeof fetch = (input, init) => {
  const deadline = AbortSignal.timeout(CALL_TIMEOUT_MS);
  return fetch(input, {
    ...init,
    signal: init?.signal ? AbortSignal.any([init.signal, deadline]) : deadline,
  });
};

const CALL_TIMEOUT_MS = 10_000;
