import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

/** A titled section of a page. */
export function Panel({ title, note, actions, isNamedByPage = false, children }: PanelProps): JSX.Element {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <header class="panel-head">
        <div>
          <h2 id={id} class={isNamedByPage ? "visually-hidden" : undefined}>
            {title}
          </h2>
          {note !== undefined && <p class="note">{note}</p>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

interface PanelProps {
  readonly title: string;
  readonly note?: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** True if the page's own heading says the same. A screen reader still finds the title. */
  readonly isNamedByPage?: boolean;
  readonly children: ComponentChildren;
}
