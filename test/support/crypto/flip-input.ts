import { equalBytes } from "../../../src/protocol/bytes.ts";

/** A bit of one copy of an input, and the moment at which it flips. */
export interface InputFlip {
  /** The content of the input. */
  readonly input: Uint8Array;
  /** The index of the copy among all copies of this input, from zero. */
  readonly copy: number;
  /** The number of writes of bytes, of any kind, between the copy and the flip. */
  readonly place: number;
}

let flip: InputFlip | undefined;
let copies: Uint8Array[] = [];
let places = 0;

/** Sets the flip of the next computation on this thread. Undefined: none. */
export function setFlip(next: InputFlip | undefined): void {
  flip = next;
  copies = [];
  places = 0;
}

/** Returns the number of places since the copy that was set. */
export function countPlaces(): number {
  return places;
}

const { from } = Uint8Array;
const { set } = Uint8Array.prototype;

Uint8Array.from = function copyAndWatch(this: unknown, ...args: Parameters<typeof from>) {
  const copy = from.apply(Uint8Array, args);
  if (flip !== undefined && equalBytes(copy, flip.input)) copies.push(copy);
  return copy;
} as typeof from;

Uint8Array.prototype.set = function writeAndFlip(...args: Parameters<typeof set>) {
  set.apply(this, args);
  const copy = flip && copies[flip.copy];
  if (copy === undefined || places++ !== flip?.place) return;
  copy[copy.length >> 1]! ^= 1;
};
