/** The choices for the lifetime of a new key: days or `never`, and the label. */
export const EXPIRIES: readonly (readonly [string, string])[] = [
  ["never", "never"],
  ["30", "in 30 days"],
  ["90", "in 90 days"],
  ["365", "in a year"],
];

/** Returns the end of a lifetime in milliseconds since 1970; undefined for `never`. */
export function expiryOf(expiry: string, nowMs: number): number | undefined {
  return expiry === "never" ? undefined : nowMs + Number(expiry) * 86_400_000;
}
