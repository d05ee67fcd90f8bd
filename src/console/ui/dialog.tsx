import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

/** A modal dialog. The browser keeps the focus inside, closes it on Esc, and gives the focus back. */
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
      onClose={onClose}
      onCancel={(event) => {
        if (isLocked) event.preventDefault();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

interface DialogProps {
  readonly title: string;
  onClose(): void;
  /** Whether Esc is ignored, while a call runs or a secret is shown that cannot be shown again. */
  readonly isLocked?: boolean;
  readonly children: ComponentChildren;
}
