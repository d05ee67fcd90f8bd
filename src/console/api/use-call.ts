import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type FailureText, failureText } from "./failure-text.ts";
import { reach, retryPauseMs } from "./reach.ts";
import { useSignOut } from "./session.ts";

/**
 * Makes a call when the page opens, when an input changes, and every `everyMs` while the tab is visible and no call
 * waits for its answer. Keeps the last data while a later call runs or after it fails. Tries again by itself if the
 * service does not answer.
 */
export function useCall<Data>(
  load: (signal: AbortSignal) => Promise<Data>,
  inputs: readonly unknown[],
  { everyMs }: { readonly everyMs?: number } = {},
): LiveCall<Data> {
  const [state, setState] = useState<CallState<Data>>({ isLoading: true });
  const [round, setRound] = useState(0);
  const loadNow = useRef(load);
  loadNow.current = load;
  const signOut = useSignOut();
  // Data of earlier inputs must not be shown for new ones.
  const subject = JSON.stringify(inputs);
  const shown = useRef(subject);

  const failureCount = useRef(0);
  const isWaiting = useRef(false);
  const reload = useCallback(() => setRound((before) => before + 1), []);

  useEffect(() => {
    const abort = new AbortController();
    let retry: ReturnType<typeof setTimeout> | undefined;
    const isNew = shown.current !== subject;
    shown.current = subject;
    isWaiting.current = true;
    setState((before) => (isNew ? { isLoading: true } : { ...before, isLoading: true }));
    loadNow.current(abort.signal).then(
      (data) => {
        if (abort.signal.aborted) return;
        isWaiting.current = false;
        reach.answered();
        failureCount.current = 0;
        setState({ data, readMs: Date.now(), isLoading: false });
      },
      (cause: unknown) => {
        if (abort.signal.aborted) return;
        isWaiting.current = false;
        const failure = failureText(cause);
        if (failure.isSilent) reach.silent();
        else reach.answered();
        if (failure.isKeyRefused) signOut(failure.message);
        else {
          setState(({ data, readMs }) => ({
            ...(data !== undefined && { data }),
            ...(readMs !== undefined && { readMs }),
            failure,
            isLoading: false,
          }));
        }
        if (failure.isSilent) {
          failureCount.current++;
          retry = setTimeout(reload, retryPauseMs(failureCount.current));
        }
      },
    );
    return () => {
      clearTimeout(retry);
      abort.abort();
    };
  }, [subject, round]);

  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const timer = setInterval(() => {
      // A reload drops the call that runs, so a slow service would never be shown, nor a silent one noticed.
      if (document.visibilityState === "visible" && !isWaiting.current) reload();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, reload]);
  return { ...(shown.current === subject ? state : { isLoading: true }), reload };
}

interface CallState<Data> {
  readonly data?: Data;
  /** When the data were read, by the browser's clock, in milliseconds since 1970. */
  readonly readMs?: number;
  readonly failure?: FailureText;
  readonly isLoading: boolean;
}

/** A call with its newest data and its newest failure. */
export interface LiveCall<Data> extends CallState<Data> {
  reload(): void;
}

/** Returns the idempotency key header, which stays the same for a retry with the same inputs. */
export function useIdempotencyKey(inputs: readonly string[]): Readonly<Record<string, string>> {
  return useMemo(() => ({ "idempotency-key": randomHex() }), [JSON.stringify(inputs)]);
}

/** Returns 128 random bits. `crypto.randomUUID` exists only on secure origins. */
function randomHex(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
