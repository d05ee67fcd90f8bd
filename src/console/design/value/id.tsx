import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { explorerUrl, shortId } from "../../format/text.ts";
import { Icon } from "./icon.tsx";

/** An id, shortened unless `isWhole`, with a button that copies the whole id. */
export function Id({ id, what, href, isWhole = false }: IdProps): JSX.Element {
  const text = <code title={id}>{isWhole ? id : shortId(id)}</code>;
  return (
    <span class={isWhole ? "id id-whole" : "id"}>
      {href === undefined ? text : <a href={href}>{text}</a>}
      <CopyButton text={id} label={`Copy the ${what}`} />
    </span>
  );
}

/** An id on the chain, with a link to an explorer if the network has one. */
export function ChainId({ id, what, kind, network, isWhole = false }: ChainIdProps): JSX.Element {
  const url = explorerUrl(network, kind, id);
  return (
    <span class="id">
      <Id id={id} what={what} isWhole={isWhole} />
      {url !== undefined && (
        <a
          class="icon-button"
          href={url}
          target="_blank"
          rel="noreferrer"
          aria-label={`Open the ${what} in an explorer`}
        >
          <Icon name="external" />
        </a>
      )}
    </span>
  );
}

interface IdProps {
  readonly id: string;
  /** The kind of id, such as `dWallet id`. */
  readonly what: string;
  /** The console's page about it. */
  readonly href?: string | undefined;
  readonly isWhole?: boolean;
}

interface ChainIdProps extends Omit<IdProps, "href"> {
  readonly kind: "tx" | "object" | "account";
  readonly network: string;
}

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
