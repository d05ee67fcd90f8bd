import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type FailureText, failureText } from "./failure-text.ts";
import { useSignOut } from "./session.ts";

/**
 * Makes a call when the page opens, when an input changes, and every `everyMs` while the tab is visible. Keeps the last
 * data while a later call runs or after it fails.
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

  useEffect(() => {
    const abort = new AbortController();
    const isNew = shown.current !== subject;
    shown.current = subject;
    setState((before) => (isNew ? { isLoading: true } : { ...before, isLoading: true }));
    loadNow.current(abort.signal).then(
      (data) => {
        if (!abort.signal.aborted) setState({ data, isLoading: false });
      },
      (cause: unknown) => {
        if (abort.signal.aborted) return;
        const failure = failureText(cause);
        if (failure.isKeyRefused) signOut(failure.message);
        else setState(({ data }) => ({ ...(data !== undefined && { data }), failure, isLoading: false }));
      },
    );
    return () => abort.abort();
  }, [subject, round]);

  const reload = useCallback(() => setRound((before) => before + 1), []);
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") reload();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, reload]);
  return { ...(shown.current === subject ? state : { isLoading: true }), reload };
}

interface CallState<Data> {
  readonly data?: Data;
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
