/** Returns the label of a tick: the time of day, or the date if the ticks are days apart. */
export function formatAxisTime(seconds: number, ticks: readonly number[]): string {
  const [first = 0, second = first] = ticks;
  return (second - first >= DAY_SECONDS ? DATE : TIME).format(seconds * 1_000);
}

/** Formats the time of a point. */
export function formatPointTime(seconds: number): string {
  return POINT.format(seconds * 1_000);
}

const DAY_SECONDS = 86_400;
const TIME = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const DATE = new Intl.DateTimeFormat(undefined, { month: "short", day: "2-digit" });
const POINT = new Intl.DateTimeFormat(undefined, {
  ...({ month: "short", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const),
});
