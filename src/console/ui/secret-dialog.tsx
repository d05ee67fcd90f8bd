import type { JSX } from "preact";
import { CopyButton } from "./copy-button.tsx";
import { Dialog } from "./dialog.tsx";

/** Shows a new key once. Only the button closes the dialog, so that a stray Esc does not lose the key. */
export function SecretDialog({ title, secret, onClose }: SecretDialogProps): JSX.Element {
  return (
    <Dialog title={title} onClose={onClose} isLocked>
      <p>
        Copy the key now and keep it in a secret store. The service has only its hash, so nobody can show it
        again.
      </p>
      <p class="secret">
        <code>{secret}</code>
      </p>
      <div class="dialog-actions">
        <CopyButton text={secret} label="Copy the key" isLarge />
        <button type="button" class="button button-primary" onClick={onClose}>
          I have the key
        </button>
      </div>
    </Dialog>
  );
}

interface SecretDialogProps {
  readonly title: string;
  readonly secret: string;
  onClose(): void;
}
