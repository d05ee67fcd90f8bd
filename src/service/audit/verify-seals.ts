import { leafHash } from "../../protocol/seals/audit-entry.ts";
import { type AuditSeal, isOwnHash, SEAL_MAX_COUNT } from "../../protocol/seals/audit-seal.ts";
import { GENESIS_HASH, merkleRoot } from "../../protocol/seals/merkle-tree.ts";
import { type AuditFault, checkEntries, type HashedEntry, missing, unreadableLine } from "./check-entries.ts";
import type { ExportedEntry } from "./export-line.ts";
import { verifySealSignature } from "./seal-events.ts";

/**
 * Verifies that seals follow one another, each with its entries. `previousChainHash` is the chain hash before the first
 * entry, from the head; undefined without a head. Reports faults as it finds them.
 */
export function createSealsVerifier(
  previousChainHash: Uint8Array | undefined,
  tell: (fault: AuditFault) => void,
): SealsVerifier {
  let chain: readonly Uint8Array[] | undefined = previousChainHash && [previousChainHash];
  let group: SealGroup | undefined;
  /** The previous seal, if its line is reliable. */
  let previous: AuditSeal | undefined;
  /** Both undefined before the first seal or entry. */
  let nextNumber: bigint | undefined;
  let nextSequence: bigint | undefined;

  return {
    takeSeal(seal) {
      closeGroup();
      if (!isOwnHash(seal)) {
        const number = nextNumber ?? seal.number;
        tellSeal(number, "was changed: it does not match its own hash");
        beginUnsealed(nextSequence ?? seal.firstSequence, number);
        return;
      }
      checkPlace(seal);
      skipTo(seal.firstSequence);
      group = createSealGroup(seal, seal.firstSequence, tell);
      [previous, nextNumber] = [seal, seal.number + 1n];
    },
    takeEntry(entry, line) {
      const hashed = { ...entry, computedLeafHash: leafHash(entry) };
      const isWhole = Buffer.compare(hashed.computedLeafHash, entry.leafHash) === 0;
      // A changed entry may have another sequence than the sealed one.
      if (group && entry.sequence !== group.position && !isWhole) group.addUnreadable(line);
      else (groupOf(entry.sequence) ?? beginWithoutSeal(entry.sequence)).add(hashed);
    },
    takeUnreadable(line) {
      if (group) group.addUnreadable(line);
      else tell(unreadableLine(line));
    },
    end: closeGroup,
  };

  function groupOf(sequence: bigint): SealGroup | undefined {
    return group?.isBeyond(sequence) ? undefined : group;
  }

  /** Begins a group at an entry where a seal should stand. */
  function beginWithoutSeal(sequence: bigint): SealGroup {
    const line = group?.takeStray();
    closeGroup();
    const isNew = nextNumber === undefined || previous?.number === nextNumber - 1n;
    const where = line === undefined ? "" : ` or cannot be read at line ${line}`;
    const number = nextNumber ?? 1n;
    if (isNew) tellSeal(number, `, before entry ${sequence}, is missing${where}`);
    skipTo(sequence);
    return beginUnsealed(sequence, isNew ? number : number - 1n);
  }

  function beginUnsealed(sequence: bigint, number: bigint): SealGroup {
    [previous, nextNumber] = [undefined, number + 1n];
    group = createSealGroup(undefined, sequence, tell);
    return group;
  }

  function closeGroup(): void {
    if (group === undefined) return;
    const end = group.close(chain);
    [chain, nextSequence, group] = [end.chain, end.nextSequence, undefined];
  }

  /** Reports the entries before this sequence as missing, if there is a gap. */
  function skipTo(sequence: bigint): void {
    if (nextSequence === undefined || sequence === nextSequence) return;
    if (sequence > nextSequence) tell(missing(nextSequence, sequence - 1n));
    chain = undefined;
  }

  function checkPlace(seal: AuditSeal): void {
    const { number, previousSealHash } = seal;
    if (nextNumber === undefined) {
      checkFirst(seal);
    } else if (number > nextNumber) {
      const last = number - 1n;
      tellSeal(nextNumber, nextNumber === last ? "is missing" : `to seal ${last} are missing`);
    } else if (number < nextNumber) {
      tellSeal(number, `is in the place of seal ${nextNumber}`);
    } else if (previous && Buffer.compare(previousSealHash, previous.sealHash) !== 0) {
      tellSeal(number, `does not continue seal ${previous.number} of this export`);
    } else if (nextSequence !== undefined && seal.firstSequence < nextSequence) {
      tellSeal(number, `begins before entry ${nextSequence}`);
    }
  }

  /** The predecessor of the first seal is fixed. The export does not know the predecessor of a later one. */
  function checkFirst({ number, firstSequence, previousSealHash }: AuditSeal): void {
    if (number !== 1n) return;
    const before = [previousSealHash, ...(chain ?? [])];
    const isGenesis = before.every((hash) => Buffer.compare(hash, GENESIS_HASH) === 0);
    if (firstSequence !== 1n || !isGenesis) tellSeal(1n, "does not begin the chain");
  }

  function tellSeal(number: bigint, what: string): void {
    const space = what.startsWith(",") ? "" : " ";
    tell({ kind: "seal", seal: number, message: `seal ${number}${space}${what}` });
  }
}

/** Receives the lines of an export between its head and its end, one after another. */
export interface SealsVerifier {
  takeSeal(seal: AuditSeal): void;
  takeEntry(entry: ExportedEntry, line: number): void;
  /** Takes the number of an unreadable line. */
  takeUnreadable(line: number): void;
  end(): void;
}

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

/** Returns true if the entries, complete and in order, match the seal. */
export function fitsEntries(seal: AuditSeal, entries: readonly HashedEntry[]): boolean {
  const last = entries.at(-1);
  if (last === undefined) return false;
  const root = merkleRoot(entries.map(({ computedLeafHash }) => computedLeafHash));
  return Buffer.compare(root, seal.merkleRoot) === 0 && Buffer.compare(last.chainHash, seal.chainHash) === 0;
}

/** Whether a seal is signed: `none`, `wrong`, by a key that is `trusted`, or by one that is `unknown`. */
export function signatureStanding(
  { sealHash: hash, publicKey, signature }: AuditSeal,
  trusted: readonly Uint8Array[],
): "none" | "wrong" | "trusted" | "unknown" {
  if (publicKey === null || signature === null) return "none";
  if (!verifySealSignature(publicKey, hash, signature)) return "wrong";
  return trusted.some((key) => Buffer.compare(key, publicKey) === 0) ? "trusted" : "unknown";
}
