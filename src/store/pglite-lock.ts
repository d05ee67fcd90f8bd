import path from "node:path";
import { isPidLockHeld } from "./pid-lock.ts";

/** The lock file of the embedded database in a data folder. */
export function lockFileOf(dataDirectory: string): string {
  return path.join(dataDirectory, "pg.lock");
}

/** Returns true if a process has the embedded database of a data folder open. */
export function isEmbeddedDatabaseOpen(dataDirectory: string): Promise<boolean> {
  return isPidLockHeld(lockFileOf(dataDirectory));
}
