import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { type FailureText, failureText } from "../../api/failure-text.ts";
import { useSignOut } from "../../api/session.ts";
import { isNameTyped } from "../../format/form-state.ts";
import { FailureNotice } from "../loaded.tsx";
import { CopyButton } from "../value/id.tsx";
import { TextField } from "./field.tsx";
import { visibleText } from "./show-controls.ts";
import { useStay } from "./use-stay.ts";

/** A modal dialog. The browser traps the focus, closes it on Esc, and restores the focus. */
export function Dialog({ title, onClose, isLocked = false, children }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onClose={() => {
        // A browser closes a dialog at a repeated Esc or a back gesture even if the page has cancelled that.
        if (isLocked) dialog.current?.showModal();
        else onClose();
      }}
      onCancel={(event) => {
        if (isLocked) event.preventDefault();
      }}
      onKeyDown={(event) => {
        if (isLocked && event.key === "Escape") event.preventDefault();
      }}
    >
      <h2 id={id} class="spaces">
        {title}
      </h2>
      {children}
    </dialog>
  );
}

interface DialogProps {
  readonly title: string;
  onClose(): void;
  /** True to stay open at Esc, while a call runs or a secret is shown that cannot be shown again. */
  readonly isLocked?: boolean;
  readonly children: ComponentChildren;
}

/** A dialog that confirms a call, and stays open with the failure if the call fails. */
export function ActionDialog(props: ActionDialogProps): JSX.Element {
  const { title, action, isDangerous = false, confirmedBy, onAct, onClose, children } = props;
  const id = useId();
  const [typed, setTyped] = useState("");
  const isConfirmed =
    confirmedBy === undefined || isNameTyped(typed, confirmedBy.name, visibleText(confirmedBy.name));
  const missing = props.missing ?? (isConfirmed ? undefined : `Type the ${confirmedBy.what} first.`);
  const [isRunning, setIsRunning] = useState(false);
  const [failure, setFailure] = useState<FailureText>();
  const signOut = useSignOut();
  async function act(): Promise<void> {
    setIsRunning(true);
    setFailure(undefined);
    try {
      await onAct();
    } catch (cause) {
      const text = failureText(cause);
      if (text.isKeyRefused) signOut(text.message);
      setFailure(text);
      setIsRunning(false);
    }
  }
  return (
    <Dialog title={title} onClose={onClose} isLocked={isRunning}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isRunning && missing === undefined) void act();
        }}
      >
        {children}
        {confirmedBy !== undefined && (
          <TextField
            label={`Type the ${confirmedBy.what} to confirm`}
            value={typed}
            onInput={setTyped}
            autofocus
            hint={<code class="wrap spaces">{confirmedBy.name}</code>}
          />
        )}
        {failure !== undefined && <FailureNotice failure={failure} />}
        <div class="dialog-actions">
          <p class="dialog-missing" id={`${id}-missing`} role="status">
            {missing}
          </p>
          <button type="button" class="button" disabled={isRunning} onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class={isDangerous ? "button button-danger" : "button button-primary"}
            disabled={isRunning || missing !== undefined}
            aria-describedby={`${id}-missing`}
          >
            {isRunning ? "Working…" : action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface ActionDialogProps {
  readonly title: string;
  /** The label of the button that acts. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Why the input is not complete, as a sentence, which stands beside the button. Undefined if it is. */
  readonly missing?: string | undefined;
  /** What the reader types before something that cannot be undone: its name, and what that is, such as `key’s name`. */
  readonly confirmedBy?: { readonly name: string; readonly what: string };
  /** Makes the call. If it rejects, the dialog stays open. If it resolves, the owner closes the dialog. */
  onAct(): Promise<void>;
  onClose(): void;
  readonly children: ComponentChildren;
}

/**
 * Shows a new secret once. Only the button closes the dialog: a stray Esc, Back or a reload does not lose the secret
 * without a question. Says so if the secret was in an earlier reply, which never arrived.
 */
export function SecretDialog(props: SecretDialogProps): JSX.Element {
  return props.secret === "" ? <LostSecret {...props} /> : <ShownSecret {...props} />;
}

function LostSecret({ title, what = "key", onClose }: SecretDialogProps): JSX.Element {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>
        The {what} was made, but it was in an earlier reply that did not arrive, and nobody can show it again.
        Replace it: rotate or revoke it in the list, and make another.
      </p>
      <div class="dialog-actions">
        <button type="button" class="button button-primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function ShownSecret({ title, what = "key", secret, onClose, children }: SecretDialogProps): JSX.Element {
  useStay();
  return (
    <Dialog title={title} onClose={onClose} isLocked>
      <p>
        {children ??
          "Copy the key now and keep it in a secret store. The service has only its hash, so nobody can show it again."}
      </p>
      <p class="secret">
        <code>{secret}</code>
      </p>
      <div class="dialog-actions">
        <CopyButton text={secret} label={`Copy the ${what}`} isLarge />
        <button type="button" class="button button-primary" onClick={onClose}>
          I have the {what}
        </button>
      </div>
    </Dialog>
  );
}

interface SecretDialogProps {
  readonly title: string;
  /** What the secret is. Default: key. */
  readonly what?: string;
  /** What to do with it, and why nobody can show it again. Default: the text for a key. */
  readonly children?: ComponentChildren;
  /** Empty if an earlier reply had it. */
  readonly secret: string;
  onClose(): void;
}
