import { type Timestamp, timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { createContext, type JSX } from "preact";
import { useContext } from "preact/hooks";
import { formatDuration, relativeTime } from "../../format/text.ts";

/**
 * A time in the reader's time zone, to the second. In a table it is relative to now, and the pointer shows the exact
 * time.
 */
export function Time({ of, otherwise = "—" }: TimeProps): JSX.Element {
  const isRelative = useContext(RelativeTimes);
  if (of === undefined) return <span class="muted">{otherwise}</span>;
  const date = timestampDate(of);
  const exact = FORM.format(date);
  const shown = isRelative ? (relativeTime(date.getTime(), Date.now()) ?? DAY.format(date)) : exact;
  return (
    <time class="time" dateTime={date.toISOString()} title={`${exact} (${date.toISOString()})`}>
      {shown}
    </time>
  );
}

/** True inside a table, whose times are relative. */
export const RelativeTimes = createContext(false);

interface TimeProps {
  readonly of: Timestamp | undefined;
  /** Shown if there is no time. */
  readonly otherwise?: string;
}

const FORM = new Intl.DateTimeFormat(undefined, {
  ...({ year: "numeric", month: "short", day: "2-digit" } as const),
  ...({ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const),
});

const DAY = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "2-digit" });

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
