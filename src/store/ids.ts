import { v7 } from "uuid";

/** Returns a new row id, a UUID of version 7, so that ids sort by time. */
export function newId(): string {
  return v7();
}
