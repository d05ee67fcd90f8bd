import { readFile } from "node:fs/promises";
import { replaceFile } from "../signer/store/durable-file.ts";
import type { Sighting } from "./sightings.ts";
import type { LogPosition } from "./user-log.ts";

/** Everything that a watchtower remembers. */
export interface TowerState {
  readonly version: 1;
  /** The chain's identifier; another chain is refused. */
  readonly chainId: string;
  /** The first checkpoint that was not read, in digits. */
  readonly next: string;
  /** The logs by their paths. */
  readonly logs: Readonly<Record<string, LogPosition>>;
  /** What the log has asked for lately, the oldest first. */
  readonly expected: readonly Expected[];
  /** Sightings that the log may still explain. */
  readonly pending: readonly Pending[];
  /** What the webhook has not accepted, the oldest first. */
  readonly untold: readonly Alert[];
}

/** A request of the log. A used one stays, so that a repeated line explains nothing more. */
export interface Expected {
  readonly what: string;
  readonly key: string;
  readonly dwalletId?: string | undefined;
  readonly atMs: number;
  readonly isUsed?: boolean | undefined;
}

/** A sighting that no line of the log explains yet. */
export interface Pending {
  readonly sighting: Sighting;
  readonly sinceMs: number;
}

/** Something to tell. */
export interface Alert {
  /** The `webhook-id`: the same after a restart. */
  readonly id: string;
  /** Such as `watchtower.sign`. */
  readonly kind: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, string>>;
  readonly atMs: number;
}

/** Reads the state; undefined if there is no file. Throws if the file is not a watchtower's. */
export async function readState(file: string): Promise<TowerState | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw cause;
  }
  const state = JSON.parse(text) as Partial<TowerState>;
  if (state.version !== 1 || typeof state.next !== "string" || !/^\d{1,19}$/.test(state.next))
    throw new Error(`${file} is not the state of a watchtower`);
  return state as TowerState;
}

/** Replaces the state, and returns once it is on the disk. */
export function writeState(file: string, state: TowerState): Promise<void> {
  return replaceFile(file, Buffer.from(`${JSON.stringify(state)}\n`));
}
