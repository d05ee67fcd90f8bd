import { sha256 as sha256Of } from "@noble/hashes/sha2.js";

export interface LeafPosition {
  /** Counts from 0. */
  readonly index: number;
  readonly leafCount: number;
}

const NODE = Uint8Array.of(0x01);

/** Returns the Merkle tree hash over one or more leaf hashes (RFC 6962, section 2.1). */
export function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  const [only] = leaves;
  if (only === undefined) throw new RangeError("a tree has one leaf or more");
  if (leaves.length === 1) return only;
  const split = largestPowerOfTwoBelow(leaves.length);
  return node(merkleRoot(leaves.slice(0, split)), merkleRoot(leaves.slice(split)));
}

/** Returns the audit path of a leaf, from the leaf's sibling to the root's child (RFC 6962, section 2.1.1). */
export function auditPath(leaves: readonly Uint8Array[], index: number): Uint8Array[] {
  if (index < 0 || index >= leaves.length) throw new RangeError("the tree has no such leaf");
  if (leaves.length === 1) return [];
  const split = largestPowerOfTwoBelow(leaves.length);
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return index < split
    ? [...auditPath(left, index), merkleRoot(right)]
    : [...auditPath(right, index - split), merkleRoot(left)];
}

/** Returns the root that follows from a leaf and its audit path, or undefined if the path does not fit the position. */
export function rootOfPath(
  leaf: Uint8Array,
  { index, leafCount }: LeafPosition,
  path: readonly Uint8Array[],
): Uint8Array | undefined {
  if (index < 0 || index >= leafCount) return undefined;
  if (leafCount === 1) return path.length === 0 ? leaf : undefined;
  const [sibling, below] = [path.at(-1), path.slice(0, -1)];
  if (sibling === undefined) return undefined;
  const split = largestPowerOfTwoBelow(leafCount);
  const isLeft = index < split;
  const position = isLeft
    ? { index, leafCount: split }
    : { index: index - split, leafCount: leafCount - split };
  const child = rootOfPath(leaf, position, below);
  if (child === undefined) return undefined;
  return isLeft ? node(child, sibling) : node(sibling, child);
}

function node(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(NODE, left, right);
}

function largestPowerOfTwoBelow(count: number): number {
  let power = 1;
  while (2 * power < count) power *= 2;
  return power;
}

/** SHA-256 over the concatenated parts: 32 bytes. */
export function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  const state = sha256Of.create();
  for (const part of parts) state.update(part);
  return state.digest();
}

/** The predecessor of the first entry and of the first seal: 32 zero bytes. */
export const GENESIS_HASH: Uint8Array = new Uint8Array(32);

/** Encodes a number in eight bytes, big-endian. */
export function uint64(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value);
  return bytes;
}
