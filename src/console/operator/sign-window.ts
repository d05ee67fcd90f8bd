import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";

/** The choices for the window of figures: seconds, and the label. */
export const SIGN_WINDOWS: readonly (readonly [string, string])[] = [
  ["3600", "the last hour"],
  ["86400", "the last day"],
  ["604800", "the last week"],
  ["2592000", "the last 30 days"],
];

/** Returns the start of a window that ends now. */
export function windowStart(seconds: string, nowMs: number): Timestamp {
  return timestampFromMs(nowMs - Number(seconds) * 1_000);
}
