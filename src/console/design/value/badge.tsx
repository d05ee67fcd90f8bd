import type { JSX } from "preact";
import { Icon, type IconName } from "./icon.tsx";

/** A state in words, with a matching icon and colour. */
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

export type Tone = "good" | "bad" | "warn" | "busy" | "none";

const ICONS: Readonly<Record<Tone, IconName>> = {
  good: "check",
  bad: "cross",
  warn: "alert",
  busy: "clock",
  none: "circle",
};
