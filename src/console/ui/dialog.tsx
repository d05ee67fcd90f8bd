import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

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
      <h2 id={id}>{title}</h2>
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
