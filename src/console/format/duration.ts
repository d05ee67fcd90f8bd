/** Formats a duration in its two greatest units: `412 ms`, `1.2 s`, `3 min 5 s`, `2 d 4 h`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1_000) return `${Math.round(durationMs)} ms`;
  if (durationMs < 60_000) return `${secondsText(durationMs / 1_000)} s`;
  const seconds = Math.round(durationMs / 1_000);
  const at = UNITS.findIndex(([size]) => seconds >= size);
  const [size, name] = UNITS[at]!;
  const [smallerSize, smallerName] = UNITS[at + 1]!;
  const rest = Math.floor((seconds % size) / smallerSize);
  return `${Math.floor(seconds / size)} ${name}${rest > 0 ? ` ${rest} ${smallerName}` : ""}`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/** Formats seconds with one decimal below ten seconds, unless it is zero. */
function secondsText(seconds: number): string {
  return seconds < 10 ? seconds.toFixed(1).replace(/\.0$/, "") : seconds.toFixed(0);
}
