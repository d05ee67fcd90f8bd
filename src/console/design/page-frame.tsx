import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useSession } from "../api/session.ts";
import { Icon } from "./value/icon.tsx";

/**
 * A page with its heading, which takes the focus when the page opens, so that a screen reader starts there. The network
 * select keeps the focus, so that the arrow keys keep working.
 */
export function PageFrame({ title, up, lead, actions, children }: PageFrameProps): JSX.Element {
  const { network, networks } = useSession();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = [title, ...(networks.length > 1 ? [network] : []), PRODUCT].join(" · ");
    if (document.activeElement?.closest(".top select") === null)
      heading.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [title]);
  return (
    <>
      <header class="page-head">
        <div>
          {up !== undefined && (
            <a class="up" href={up.href}>
              <Icon name="previous" /> {up.title}
            </a>
          )}
          <h1 ref={heading} class="spaces" tabIndex={-1}>
            {title}
          </h1>
          {lead !== undefined && <p class="lead">{lead}</p>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** The name of the product, in the header and in the titles of the browser's tabs. */
export const PRODUCT = "Threshold Signing";

interface PageFrameProps {
  readonly title: string;
  /** The page above this one, such as the list that has it. */
  readonly up?: { readonly href: string; readonly title: string };
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}
