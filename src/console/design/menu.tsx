import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { Icon, type IconName } from "./value/icon.tsx";

/** A button that opens a small panel below itself. Esc and a focus elsewhere close it. */
export function Menu({ icon, label, isSmall = false, children }: MenuProps): JSX.Element {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details
      class="menu-box"
      open={isOpen}
      onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) setIsOpen(false);
      }}
      onKeyDown={({ key, currentTarget }) => {
        if (key !== "Escape") return;
        setIsOpen(false);
        currentTarget.querySelector("summary")?.focus();
      }}
    >
      <summary class={isSmall ? "button button-small" : "button"}>
        <Icon name={icon} /> {label}
      </summary>
      {isOpen && <div class="menu-panel">{children}</div>}
    </details>
  );
}

interface MenuProps {
  readonly icon: IconName;
  readonly label: ComponentChildren;
  readonly isSmall?: boolean;
  /** Rendered while the menu is open. */
  readonly children: ComponentChildren;
}
