import { equalBytes } from "../../protocol/bytes.ts";
import { chainHash } from "../../protocol/seals/audit-entry.ts";
import type { ExportedEntry } from "./export-line.ts";

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

/** A difference between an export and the sealed events. */
export interface AuditFault {
  /**
   * `changed`: an entry does not match its hashes. `missing`: entries are missing. `reordered`: an entry is not in its
   * sealed position. `repeated`: an entry occurs again. `seal`: a seal is missing, changed, or does not match its
   * entries or the previous seal. `signature`: a signature is invalid or missing. `truncated`: the end is missing.
   * `anchor`: the expected seal is missing. `format`: a line is not a line of an export.
   */
  readonly kind:
    | "changed"
    | "missing"
    | "reordered"
    | "repeated"
    | "seal"
    | "signature"
    | "truncated"
    | "anchor"
    | "format";
  /** The first affected entry. */
  readonly sequence?: bigint;
  /** The last affected entry, if there are several. */
  readonly lastSequence?: bigint;
  /** The number of the affected seal. */
  readonly seal?: bigint;
  /** The line of the export, counted from 1. */
  readonly line?: number;
  /** A human-readable text that names the entry or the seal. */
  readonly message: string;
}

/** Removes the `missing` fault of each entry that is only reordered, so that it counts once. Keeps the order. */
export function tidyFaults(faults: readonly AuditFault[]): AuditFault[] {
  const moved = new Set(faults.filter(({ kind }) => kind === "reordered").map(({ sequence }) => sequence));
  return faults.filter(
    ({ kind, sequence, lastSequence }) =>
      kind !== "missing" || lastSequence !== sequence || !moved.has(sequence),
  );
}

/** Returns the smallest set of numbers whose removal leaves the others ascending. All numbers must be different. */
export function outOfPlace(numbers: readonly bigint[]): bigint[] {
  // Patience sorting: the top of each pile is the smallest end of an ascending run of that length.
  const tops: number[] = [];
  const before: (number | undefined)[] = [];
  for (const [index, number] of numbers.entries()) {
    const pile = firstPileNotBelow(number);
    before.push(tops[pile - 1]);
    tops[pile] = index;
  }
  const kept = new Set<number>();
  for (let index = tops.at(-1); index !== undefined; index = before[index]) kept.add(index);
  return numbers.filter((_number, index) => !kept.has(index));

  function firstPileNotBelow(number: bigint): number {
    let [low, high] = [0, tops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[tops[middle] ?? 0] ?? 0n) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
