import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { JSX } from "preact";

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
