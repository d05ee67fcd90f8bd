import { equalBytes } from "../protocol/bytes.ts";
import { chainHash } from "../seals/audit-entry.ts";
import type { AuditFault } from "./audit-fault.ts";
import type { ExportedEntry } from "./export-line.ts";
import { outOfPlace } from "./out-of-place.ts";

/** Checks the hashes and the order of entries. `chain` has the possible chain hashes of the previous entry. */
export function checkEntries(group: EntryGroup, chain: readonly Uint8Array[] | undefined): EntryCheck {
  const faults = [...reordered(group), ...absent(group)];
  let candidates = chain;
  let next = group.firstSequence;
  for (const entry of inOrder(group)) {
    const { sequence, computedLeafHash: leaf } = entry;
    // After a missing entry the expected chain hash is unknown.
    if (sequence !== next) candidates = undefined;
    const continued = candidates?.map((previous) => chainHash(previous, leaf));
    const isChained = continued?.some((hash) => equalBytes(hash, entry.chainHash)) ?? true;
    const isWhole = isChained && equalBytes(leaf, entry.leafHash);
    if (!isWhole) {
      const what = isChained ? "does not match its sealed hash" : "does not continue the chain";
      faults.push({ kind: "changed", sequence, message: `entry ${sequence} was changed: it ${what}` });
    }
    candidates = isWhole
      ? [entry.chainHash]
      : [entry.chainHash, ...(continued ?? [])].slice(0, CANDIDATES_MAX_COUNT);
    next = sequence + 1n;
  }
  if (next <= group.lastSequence) candidates = undefined;
  return { faults: faults.sort(bySequence), chain: candidates };
}

/** An entry of an export, with the leaf hash of its bytes. */
export interface HashedEntry extends ExportedEntry {
  readonly computedLeafHash: Uint8Array;
}

/** The entries of one seal in an export. */
export interface EntryGroup {
  readonly firstSequence: bigint;
  readonly lastSequence: bigint;
  /** In the order of the export, each once and all within the range. */
  readonly entries: readonly HashedEntry[];
  /** The numbers of unreadable lines, by the sequence expected there. */
  readonly unreadable: ReadonlyMap<bigint, number>;
}

/** The result of {@link checkEntries}. */
export interface EntryCheck {
  readonly faults: readonly AuditFault[];
  /** The possible chain hashes of the last entry. The next entry must continue one of them. Undefined if unknown. */
  readonly chain: readonly Uint8Array[] | undefined;
}

/** An unbroken chain has one candidate. Each consecutive fault adds one. */
const CANDIDATES_MAX_COUNT = 4;

function reordered({ entries }: EntryGroup): AuditFault[] {
  return outOfPlace(entries.map(({ sequence }) => sequence)).map((sequence) => ({
    kind: "reordered",
    sequence,
    message: `entry ${sequence} was reordered: it does not follow entry ${sequence - 1n}`,
  }));
}

function absent({ firstSequence, lastSequence, entries, unreadable }: EntryGroup): AuditFault[] {
  const present = new Set(entries.map(({ sequence }) => sequence));
  const faults: AuditFault[] = [];
  for (let sequence = firstSequence; sequence <= lastSequence; sequence++) {
    if (present.has(sequence)) continue;
    const line = unreadable.get(sequence);
    if (line !== undefined) {
      const message = `entry ${sequence} was changed: line ${line} is not a line of an export`;
      faults.push({ kind: "changed", sequence, line, message });
      continue;
    }
    let last = sequence;
    while (last < lastSequence && !present.has(last + 1n) && !unreadable.has(last + 1n)) last++;
    faults.push(missing(sequence, last));
    sequence = last;
  }
  const unused = [...unreadable].filter(([at]) => present.has(at) || at < firstSequence || at > lastSequence);
  return [...faults, ...unused.map(([, line]) => unreadableLine(line))];
}

/** The fault that these entries are missing. */
export function missing(sequence: bigint, lastSequence: bigint): AuditFault {
  const what =
    sequence === lastSequence ? `entry ${sequence} is` : `entries ${sequence} to ${lastSequence} are`;
  return { kind: "missing", sequence, lastSequence, message: `${what} missing` };
}

/** The fault of an unreadable line. */
export function unreadableLine(line: number): AuditFault {
  return { kind: "format", line, message: `line ${line} is not a line of an export` };
}

const inOrder = ({ entries }: EntryGroup): HashedEntry[] =>
  [...entries].sort((a, b) => (a.sequence < b.sequence ? -1 : 1));

const bySequence = (a: AuditFault, b: AuditFault): number => Number((a.sequence ?? 0n) - (b.sequence ?? 0n));
