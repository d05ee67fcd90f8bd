import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type FailureText, failureText } from "./api/failure-text.ts";
import { type KeySession, openKeySession, roleOfKey } from "./api/session.ts";
import { TextField } from "./design/form/field.tsx";
import { FailureNotice } from "./design/loaded.tsx";
import { PRODUCT } from "./design/page-frame.tsx";
import { ThemeChoice } from "./design/theme-choice.tsx";

/** Asks for a key and opens a session with it. */
export function SignIn({ message, onSession }: SignInProps): JSX.Element {
  const [key, setKey] = useState("");
  const [isShown, setIsShown] = useState(false);
  const [isOpening, setIsOpening] = useState(false);
  const [failure, setFailure] = useState<FailureText>();
  const abort = useRef(new AbortController());
  useEffect(() => {
    document.title = `Sign in · ${PRODUCT}`;
    return () => abort.current.abort();
  }, []);
  async function open(): Promise<void> {
    setIsOpening(true);
    setFailure(undefined);
    try {
      onSession(await openKeySession(key.trim(), abort.current.signal));
    } catch (cause) {
      setFailure(failureText(cause));
      setIsOpening(false);
    }
  }
  return (
    <main class="sign-in">
      <form
        class="form panel"
        onSubmit={(event) => {
          event.preventDefault();
          if (key.trim() !== "" && !isOpening) void open();
        }}
      >
        <h1>{PRODUCT}</h1>
        <p class="muted">The console of a threshold signing service.</p>
        {message !== "" && failure === undefined && (
          <p class="notice" role="status">
            {message}
          </p>
        )}
        <TextField
          label="Key"
          isSecret={!isShown}
          value={key}
          onInput={setKey}
          required
          autofocus
          hint="An admin key opens the operator's pages, an API key those of its project."
        />
        <label class="check">
          <input type="checkbox" checked={isShown} onChange={() => setIsShown(!isShown)} /> Show the key
        </label>
        {failure !== undefined && <FailureNotice failure={failure} />}
        <button type="submit" class="button button-primary" disabled={isOpening || key.trim() === ""}>
          {isOpening ? "Signing in…" : key.trim() === "" ? "Sign in" : `Sign in as ${roleOfKey(key.trim())}`}
        </button>
        <p class="muted small">
          The key stays in the memory of this tab. A reload, a sign-out or 30 minutes without use erases it.
        </p>
        <ThemeChoice />
      </form>
    </main>
  );
}

interface SignInProps {
  /** Why the last session ended; empty at the start. */
  readonly message: string;
  onSession(session: KeySession): void;
}
