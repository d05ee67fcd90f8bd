/** A whole number with grouped digits. A fraction, such as a tick between two counts, has no text. */
export function formatCount(count: number | bigint): string {
  return typeof count === "bigint" || Number.isInteger(count) ? count.toLocaleString("en") : "";
}
