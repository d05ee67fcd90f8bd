import type { JSX } from "preact";
import { Icon, type IconName } from "./icon.tsx";

/** A state in words, with an icon and a colour that say the same. */
export function Badge({ tone, children }: BadgeProps): JSX.Element {
  return (
    <span class={`badge badge-${tone}`}>
      <Icon name={ICONS[tone]} />
      {children}
    </span>
  );
}

interface BadgeProps {
  readonly tone: Tone;
  readonly children: string;
}

/** How good a state is. */
export type Tone = "good" | "bad" | "warn" | "busy" | "none";

const ICONS: Readonly<Record<Tone, IconName>> = {
  good: "check",
  bad: "cross",
  warn: "alert",
  busy: "clock",
  none: "circle",
};
