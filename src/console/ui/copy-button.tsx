import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "./icon.tsx";

/** Copies a text. Without a secure origin, a page has no clipboard, and the button asks to copy by hand. */
export function CopyButton({ text, label, isLarge = false }: CopyButtonProps): JSX.Element {
  const [outcome, setOutcome] = useState<"copied" | "failed">();
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome("copied");
    } catch {
      setOutcome("failed");
    }
    setTimeout(() => setOutcome(undefined), SHOWN_MS);
  }
  const said = outcome === undefined ? "" : outcome === "copied" ? "Copied" : "Select the text and copy it";
  return (
    <span class="copy">
      <button
        type="button"
        class={isLarge ? "button" : "icon-button"}
        aria-label={isLarge ? undefined : label}
        title={isLarge ? undefined : label}
        onClick={() => void copy()}
      >
        <Icon name={outcome === "copied" ? "check" : "copy"} />
        {isLarge && label}
      </button>
      <span role="status" class={isLarge || outcome === "failed" ? "small" : "visually-hidden"}>
        {said}
      </span>
    </span>
  );
}

interface CopyButtonProps {
  readonly text: string;
  /** The action, such as `Copy the address`. */
  readonly label: string;
  /** True to show the label. */
  readonly isLarge?: boolean;
}

const SHOWN_MS = 2_500;
