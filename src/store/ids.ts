import { v7 } from "uuid";

/** A new id for a row of ours: a UUID of version 7, so that the order of ids is the order in time. */
export function newId(): string {
  return v7();
}
