import { randomUUID } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import { McpError } from "./mcp-error.ts";

/**
 * Counts the signatures of each key over the last hour and the last day, in a folder that all processes of one agent
 * share and that survives them. A signature is on the disk before it is requested.
 */
export interface SignatureLedger {
  /**
   * Takes some signatures of a key, all or none. Throws McpError TOO_MANY_SIGNATURES if the key has used up a bound, and
   * LEDGER_UNAVAILABLE if the folder cannot be written.
   */
  take(keyName: string, count: number): void;
}

/** Opens the ledger in a folder, and removes files that are older than any bound. */
export function openSignatureLedger(folder: string, bounds: LedgerBounds, nowMs = Date.now): SignatureLedger {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(folder))
    if (DAY_FILE.test(name) && !filesAt(nowMs()).includes(name)) unlinkSync(path.join(folder, name));
  return {
    // Without an await, calls of one process cannot pass each other.
    take(keyName, count) {
      try {
        refuseAbove(bounds, countOf(folder, keyName, nowMs()), count);
        const id = randomUUID();
        const atMs = nowMs();
        append(folder, atMs, { id, atMs, keyName, count });
        // Another process may have taken the last place in the meantime. Of two, neither or one gets it, never both.
        try {
          refuseAbove(bounds, countOf(folder, keyName, atMs), 0);
        } catch (error) {
          append(folder, atMs, { returned: id });
          throw error;
        }
      } catch (cause) {
        if (cause instanceof McpError) throw cause;
        throw new McpError(
          "LEDGER_UNAVAILABLE",
          "the ledger of signatures cannot be read or written; the server's log has the cause",
          cause,
        );
      }
    },
  };
}

/** The most signatures of one key. */
export interface LedgerBounds {
  readonly perHour: number;
  readonly perDay: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAY_FILE = /^\d{4}-\d\d-\d\d\.jsonl$/;

type Entry =
  | { readonly id: string; readonly atMs: number; readonly keyName: string; readonly count: number }
  | { readonly returned: string };

/** The files that can have entries of the last day: of yesterday, today, and a clock that is ahead. */
function filesAt(nowMs: number): readonly string[] {
  return [-1, 0, 1].map((days) => `${new Date(nowMs + days * DAY_MS).toISOString().slice(0, 10)}.jsonl`);
}

/** Appends a line at once. The octets of one write to the end of a file do not mix with those of other processes. */
function append(folder: string, nowMs: number, entry: Entry): void {
  const descriptor = openSync(path.join(folder, filesAt(nowMs)[1]!), "a", 0o600);
  try {
    writeSync(descriptor, `${JSON.stringify(entry)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Counts the signatures of a key in the last hour and the last day. A later time counts too: clocks go back. */
function countOf(folder: string, keyName: string, nowMs: number): Counts {
  const taken = new Map<string, { readonly atMs: number; readonly count: number }>();
  const present = new Set(readdirSync(folder));
  for (const name of filesAt(nowMs)) {
    if (!present.has(name)) continue;
    for (const line of readFileSync(path.join(folder, name), "utf8").split("\n")) {
      if (line === "") continue;
      const entry = JSON.parse(line) as Entry;
      if ("returned" in entry) taken.delete(entry.returned);
      else if (!Number.isInteger(entry.count) || !Number.isInteger(entry.atMs))
        throw new Error("a line of the ledger is damaged");
      else if (entry.keyName === keyName) taken.set(entry.id, entry);
    }
  }
  const since = (spanMs: number) =>
    [...taken.values()]
      .filter(({ atMs }) => atMs > nowMs - spanMs)
      .reduce((sum, { count }) => sum + count, 0);
  return { hourCount: since(HOUR_MS), dayCount: since(DAY_MS) };
}

interface Counts {
  readonly hourCount: number;
  readonly dayCount: number;
}

/** @param moreCount how many are about to be added */
function refuseAbove(
  { perHour, perDay }: LedgerBounds,
  { hourCount, dayCount }: Counts,
  moreCount: number,
): void {
  const span = hourCount + moreCount > perHour ? "hour" : dayCount + moreCount > perDay ? "day" : undefined;
  if (span === undefined) return;
  const most = span === "hour" ? perHour : perDay;
  throw new McpError(
    "TOO_MANY_SIGNATURES",
    `the key has too few of its ${most} signatures of the last ${span} left; only its owner can change that`,
  );
}
