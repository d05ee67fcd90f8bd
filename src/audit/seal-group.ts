import { type AuditSeal, SEAL_MAX_COUNT } from "../seals/audit-seal.ts";
import type { AuditFault } from "./audit-fault.ts";
import { checkEntries, type HashedEntry } from "./check-entries.ts";
import { fitsEntries } from "./check-seal.ts";

/**
 * Begins a group. `seal` is undefined if its line is missing or wrong; then only the hashes of the entries can be
 * checked. Reports faults as it finds them.
 */
export function createSealGroup(
  seal: AuditSeal | undefined,
  firstSequence: bigint,
  tell: (fault: AuditFault) => void,
): SealGroup {
  const entries = new Map<bigint, HashedEntry>();
  const unreadable = new Map<bigint, number>();
  const mostSequence = seal?.lastSequence ?? firstSequence + BigInt(SEAL_MAX_COUNT) - 1n;
  let position = firstSequence;

  return {
    get position() {
      return position;
    },
    isBeyond: (sequence) => sequence > mostSequence && (seal === undefined || position > mostSequence),
    add(entry) {
      const { sequence } = entry;
      if (entries.has(sequence)) {
        tell({ kind: "repeated", sequence, message: `entry ${sequence} is repeated` });
      } else if (sequence < firstSequence || sequence > mostSequence) {
        const message = `entry ${sequence} was reordered: it follows a seal that does not cover it`;
        tell({ kind: "reordered", sequence, message });
        return;
      } else {
        entries.set(sequence, entry);
      }
      position = sequence + 1n;
    },
    addUnreadable(number) {
      unreadable.set(position, number);
      position++;
    },
    takeStray() {
      const stray = unreadable.get(mostSequence + 1n);
      unreadable.delete(mostSequence + 1n);
      return stray;
    },
    close(chain) {
      const inFileOrder = [...entries.values()];
      const lastSequence = seal?.lastSequence ?? greatest(inFileOrder) ?? firstSequence - 1n;
      const range = { firstSequence, lastSequence, entries: inFileOrder, unreadable };
      const checked = checkEntries(range, chain);
      checked.faults.forEach(tell);
      if (seal && checked.faults.length === 0 && !fitsEntries(seal, inFileOrder)) {
        const message = `seal ${seal.number} does not match its entries ${firstSequence} to ${lastSequence}`;
        tell({ kind: "seal", seal: seal.number, message });
      }
      const nextChain = seal ? [seal.chainHash, ...(checked.chain ?? [])] : checked.chain;
      return { nextSequence: lastSequence + 1n, chain: nextChain };
    },
  };
}

/** Collects the entries that follow one seal, then checks them together. */
export interface SealGroup {
  /** The sequence that the next line should have. */
  readonly position: bigint;
  /** Whether an entry with this sequence can only follow a seal that is missing. */
  isBeyond(sequence: bigint): boolean;
  add(entry: HashedEntry): void;
  /** Adds the number of an unreadable line. */
  addUnreadable(line: number): void;
  /** Removes the unreadable line behind the last entry of the seal, if any. Returns its number. */
  takeStray(): number | undefined;
  close(chain: readonly Uint8Array[] | undefined): GroupEnd;
}

/** The start of the next group. */
export interface GroupEnd {
  readonly nextSequence: bigint;
  /** The possible chain hashes before the next entry; undefined: unknown. */
  readonly chain: readonly Uint8Array[] | undefined;
}

function greatest(entries: readonly HashedEntry[]): bigint | undefined {
  return entries.reduce<bigint | undefined>(
    (most, { sequence }) => (most === undefined || sequence > most ? sequence : most),
    undefined,
  );
}
