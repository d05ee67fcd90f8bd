import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type FailureText, failureText } from "./api/failure-text.ts";
import { type Found, find } from "./api/find.ts";
import { useSession } from "./api/session.ts";
import { Dialog } from "./design/form/dialog.tsx";
import { TextField } from "./design/form/field.tsx";
import { FailureNotice } from "./design/loaded.tsx";
import { Icon } from "./design/value/icon.tsx";
import type { Route } from "./route.ts";

/** The button that opens the search. Ctrl-K or ⌘K opens it from everywhere but another dialog. */
export function SearchButton({ routes }: SearchProps): JSX.Element {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    const openOnKey = (event: KeyboardEvent): void => {
      const isShortcut = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey;
      if (!isShortcut || document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      setIsOpen(true);
    };
    addEventListener("keydown", openOnKey);
    return () => removeEventListener("keydown", openOnKey);
  }, []);
  return (
    <>
      <button type="button" class="button search-button" onClick={() => setIsOpen(true)}>
        <Icon name="search" />
        <span class="search-word">Search</span>
        <kbd class="muted small">Ctrl K</kbd>
      </button>
      {isOpen && <SearchDialog routes={routes} onClose={() => setIsOpen(false)} />}
    </>
  );
}

interface SearchProps {
  /** The pages of the signed-in key. */
  readonly routes: readonly Route[];
}

function SearchDialog({ routes, onClose }: SearchProps & { onClose(): void }): JSX.Element {
  const session = useSession();
  const [text, setText] = useState("");
  const [outcome, setOutcome] = useState<Outcome>({ of: "", found: [] });
  useEffect(() => {
    const abort = new AbortController();
    // One search for a word, not one for each of its letters.
    const timer = setTimeout(() => {
      find(session, routes, text, abort.signal).then(
        (found) => {
          if (!abort.signal.aborted) setOutcome({ of: text, found });
        },
        (cause: unknown) => {
          if (!abort.signal.aborted) setOutcome({ of: text, found: [], failure: failureText(cause) });
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  const { found, failure } = outcome;
  const isCurrent = outcome.of === text;
  return (
    <Dialog title="Search" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          const [first] = found;
          if (!isCurrent || first === undefined) return;
          location.hash = first.href;
          onClose();
        }}
      >
        <TextField
          label="Find"
          value={text}
          onInput={setText}
          autofocus
          hint={session.role === "operator" ? OPERATOR_HINT : PROJECT_HINT}
        />
        {failure !== undefined && <FailureNotice failure={failure} />}
        <p role="status" class="visually-hidden">
          {isCurrent && text.trim() !== "" && failure === undefined && countText(found.length)}
        </p>
        <ul class="found">
          {found.map(({ kind, title, note, href }) => (
            <li key={`${kind} ${title} ${href}`}>
              <a href={href} onClick={onClose}>
                <span class="found-title">{title}</span>
                <span class="muted small">
                  {kind}
                  {note !== "" && `, ${note}`}
                </span>
              </a>
            </li>
          ))}
        </ul>
        {isCurrent && text.trim() !== "" && found.length === 0 && failure === undefined && (
          <p class="muted">Nothing that this key may see is called so.</p>
        )}
      </form>
    </Dialog>
  );
}

interface Outcome {
  /** The text that was searched for. */
  readonly of: string;
  readonly found: readonly Found[];
  readonly failure?: FailureText;
}

const PAUSE_MS = 200;
const PROJECT_HINT = "A page, a user, the name or id of a dWallet, the id of a sign request, or a key.";
const OPERATOR_HINT =
  "A page, the name or id of a project, the id of a sign request, dWallet or operation, the number of an audit event, or a transaction.";

const countText = (count: number): string => (count === 1 ? "One result" : `${count} results`);
