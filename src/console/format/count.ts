/**
 * Formats a whole number with grouped digits. Returns an empty text for a fraction, such as a tick between two counts.
 */
export function formatCount(count: number | bigint): string {
  return typeof count === "bigint" || Number.isInteger(count) ? count.toLocaleString("en") : "";
}
