import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { type FailureText, failureText } from "../api/failure-text.ts";
import { useSignOut } from "../api/session.ts";
import { CopyButton } from "./id.tsx";
import { FailureNotice } from "./loaded.tsx";

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
  const { title, action, isDangerous = false, isReady = true, onAct, onClose, children } = props;
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
          if (!isRunning && isReady) void act();
        }}
      >
        {children}
        {failure !== undefined && <FailureNotice failure={failure} />}
        <div class="dialog-actions">
          <button type="button" class="button" disabled={isRunning} onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class={isDangerous ? "button button-danger" : "button button-primary"}
            disabled={isRunning || !isReady}
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
  /** True if the input is complete. Default true. */
  readonly isReady?: boolean;
  /** Makes the call. If it rejects, the dialog stays open. If it resolves, the owner closes the dialog. */
  onAct(): Promise<void>;
  onClose(): void;
  readonly children: ComponentChildren;
}

/** Shows a new secret once. Only the button closes the dialog, so that a stray Esc does not lose the secret. */
export function SecretDialog({
  title,
  what = "key",
  secret,
  onClose,
  children,
}: SecretDialogProps): JSX.Element {
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
  readonly secret: string;
  onClose(): void;
}
