import type { AuditFault } from "./audit-fault.ts";
import { type AuditSeal, SEAL_MAX_COUNT } from "./audit-seal.ts";
import { checkEntries, type HashedEntry } from "./check-entries.ts";
import { fitsEntries } from "./check-seal.ts";

/** Collects the entries that stand behind one seal, then judges them together. */
export interface SealGroup {
  /** The sequence that the next line should have. */
  readonly position: bigint;
  /** Whether an entry of this sequence can only stand behind a seal that is not there. */
  isBeyond(sequence: bigint): boolean;
  add(entry: HashedEntry): void;
  /** A line of which nobody can tell what it was. */
  addUnreadable(line: number): void;
  /** Takes back the last line that could not be read and that is none of these entries; returns its number. */
  takeStray(): number | undefined;
  close(chain: readonly Uint8Array[] | undefined): GroupEnd;
}

/** What comes behind a group. */
export interface GroupEnd {
  readonly nextSequence: bigint;
  /** What the chain hash before the next entry may be; undefined: unknown. */
  readonly chain: readonly Uint8Array[] | undefined;
}

/**
 * Begins a group. `seal` is undefined where its line is missing or wrong: then the hashes of the entries are all there
 * is to judge them by. Reports faults as it finds them.
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
        const message = `entry ${sequence} was reordered: it stands behind another seal than its own`;
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
      const judgement = checkEntries(range, chain);
      judgement.faults.forEach(tell);
      if (seal && judgement.faults.length === 0 && !fitsEntries(seal, inFileOrder)) {
        const message = `seal ${seal.number} does not fit its entries ${firstSequence} to ${lastSequence}`;
        tell({ kind: "seal", seal: seal.number, message });
      }
      const nextChain = seal ? [seal.chainHash, ...(judgement.chain ?? [])] : judgement.chain;
      return { nextSequence: lastSequence + 1n, chain: nextChain };
    },
  };
}

function greatest(entries: readonly HashedEntry[]): bigint | undefined {
  return entries.reduce<bigint | undefined>(
    (most, { sequence }) => (most === undefined || sequence > most ? sequence : most),
    undefined,
  );
}
