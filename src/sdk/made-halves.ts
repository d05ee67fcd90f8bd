import { sha256 } from "@noble/hashes/sha2.js";
import type { AlgorithmTriple } from "../protocol/algorithms.ts";
import { bytesToHex, concatBytes, encodeVector } from "../protocol/bytes.ts";
import { TssError } from "./errors.ts";

/** What a half signs. */
export interface HalfPurpose {
  readonly dwalletId: string;
  readonly triple: AlgorithmTriple;
  readonly message: Uint8Array;
}

/** The user's halves that one client has made, one for each presign. */
export interface MadeHalves {
  /**
   * The half for this presign: made once, and returned again for the same purpose, so that what is submitted again is
   * the same bytes. Throws PRESIGN_MISMATCH for another purpose.
   */
  for(presign: Uint8Array, purpose: HalfPurpose, make: () => Promise<Uint8Array>): Promise<Uint8Array>;
}

/** How many are remembered, the newest ones. A half is at most 7 KB. */
const MAX_REMEMBERED_COUNT = 1000;

/** Remembers in memory: a client that starts anew remembers nothing. */
export function createMadeHalves(maxCount = MAX_REMEMBERED_COUNT): MadeHalves {
  const made = new Map<string, { readonly purpose: string; readonly half: Promise<Uint8Array> }>();
  const halves: MadeHalves = {
    async for(presign, purpose, make) {
      const key = digestOf(presign);
      const wanted = digestOfPurpose(purpose);
      const known = made.get(key);
      if (known?.purpose === wanted) {
        const half = await known.half.catch(() => undefined);
        // Another action began it and was ended before it was done: then it is made here.
        return half ?? (await halves.for(presign, purpose, make));
      }
      if (known !== undefined)
        throw new TssError(
          "PRESIGN_MISMATCH",
          "the service gave out a presign twice, for different messages",
        );
      const [oldest] = made.keys();
      if (made.size >= maxCount && oldest !== undefined) made.delete(oldest);
      const half = make();
      made.set(key, { purpose: wanted, half });
      // What could not be computed was never sent.
      half.catch(() => {
        if (made.get(key)?.half === half) made.delete(key);
      });
      return await half;
    },
  };
  return halves;
}

function digestOf(...parts: readonly Uint8Array[]): string {
  return bytesToHex(sha256(concatBytes(...parts.map(encodeVector))));
}

function digestOfPurpose({ dwalletId, triple, message }: HalfPurpose): string {
  const { curve, signatureAlgorithm, hash } = triple;
  const names = [dwalletId, curve, signatureAlgorithm, hash].map((name) => new TextEncoder().encode(name));
  return digestOf(...names, message);
}
