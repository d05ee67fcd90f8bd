import { type Timestamp, timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import type { JSX } from "preact";
import { formatDuration } from "../format/text.ts";

/** A time in the reader's time zone, to the second. */
export function Time({ of, otherwise = "—" }: TimeProps): JSX.Element {
  if (of === undefined) return <span class="muted">{otherwise}</span>;
  const date = timestampDate(of);
  return (
    <time class="time" dateTime={date.toISOString()} title={date.toISOString()}>
      {FORM.format(date)}
    </time>
  );
}

interface TimeProps {
  readonly of: Timestamp | undefined;
  /** Shown if there is no time. */
  readonly otherwise?: string;
}

const FORM = new Intl.DateTimeFormat(undefined, {
  ...({ year: "numeric", month: "short", day: "2-digit" } as const),
  ...({ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const),
});

/** The age of something at the time when its data were read. */
export function Age({ of, at }: AgeProps): JSX.Element {
  if (of === undefined) return <span class="muted">—</span>;
  const date = new Date(timestampMs(of));
  const ageMs = Math.max(0, (at === undefined ? Date.now() : timestampMs(at)) - date.getTime());
  return (
    <time class="time" dateTime={date.toISOString()} title={date.toISOString()}>
      {formatDuration(Math.round(ageMs / 1_000) * 1_000)} ago
    </time>
  );
}

interface AgeProps {
  readonly of: Timestamp | undefined;
  /** The time of the reading by the service's clock. Undefined: now, by the browser's clock. */
  readonly at: Timestamp | undefined;
}
