import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";

/** The windows that figures can be asked for. */
export const SIGN_WINDOWS: readonly (readonly [string, string])[] = [
  ["3600", "the last hour"],
  ["86400", "the last day"],
  ["604800", "the last week"],
  ["2592000", "the last 30 days"],
];

/** The beginning of a window that ends now. */
export function windowStart(seconds: string, nowMs: number): Timestamp {
  return timestampFromMs(nowMs - Number(seconds) * 1_000);
}
