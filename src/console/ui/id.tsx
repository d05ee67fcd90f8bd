import type { JSX } from "preact";
import { explorerUrl } from "../format/explorer.ts";
import { shortId } from "../format/short-id.ts";
import { CopyButton } from "./copy-button.tsx";
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
