import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { type FailureText, failureText } from "../api/failure-text.ts";
import { useSignOut } from "../api/session-context.ts";
import { Dialog } from "./dialog.tsx";
import { FailureNotice } from "./failure-notice.tsx";

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
