import type { ComponentChildren, JSX } from "preact";

/** The placeholder of an empty list, which explains what would appear there. */
export function Empty({ title, children }: EmptyProps): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <p class="muted">{children}</p>}
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
}
