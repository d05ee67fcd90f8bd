import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import type { AlgorithmTriple } from "../../../../protocol/algorithms.ts";
import { encodeVector } from "../../../../protocol/bytes.ts";
import type { CryptoEngine } from "../../../crypto/engine.ts";
import { TssError } from "../../errors.ts";

/** Creates a cache in memory of the halves that an engine computes. It does not survive a restart. */
export function createMadeHalves(
  { derivesRandomness = false }: Pick<CryptoEngine, "derivesRandomness">,
  maxCount = MAX_REMEMBERED_COUNT,
): MadeHalves {
  const made = new Map<string, { readonly purpose: string; readonly half: Promise<Uint8Array> }>();
  const halves: MadeHalves = {
    async for(presign, purpose, make) {
      const wanted = digestOfPurpose(purpose);
      // Halves of two messages share no random number if all of it is derived from the message too.
      const key = digestOf(presign) + (derivesRandomness ? wanted : "");
      const known = made.get(key);
      if (known?.purpose === wanted) {
        const half = await known.half.catch(() => undefined);
        // Another action began this half and ended before it finished.
        return half ?? (await halves.for(presign, purpose, make));
      }
      if (known !== undefined)
        throw new TssError(
          "PRESIGN_REUSED",
          "this client has used the presign for another message, and its engine makes one half for each presign; sign again with another idempotency key",
        );
      const [oldest] = made.keys();
      if (made.size >= maxCount && oldest !== undefined) made.delete(oldest);
      const half = make();
      made.set(key, { purpose: wanted, half });
      // A half whose computation failed was never sent.
      half.catch(() => {
        if (made.get(key)?.half === half) made.delete(key);
      });
      return await half;
    },
  };
  return halves;
}

export interface HalfPurpose {
  readonly dwalletId: string;
  readonly triple: AlgorithmTriple;
  readonly message: Uint8Array;
}

/** A cache of the user's halves of one client. */
export interface MadeHalves {
  /**
   * Returns the half of a presign. Computes it once and returns the same bytes for the same purpose, so that a repeated
   * submission is identical. Throws PRESIGN_REUSED for another purpose, unless the engine derives its randomness.
   */
  for(presign: Uint8Array, purpose: HalfPurpose, make: () => Promise<Uint8Array>): Promise<Uint8Array>;
}

/** The size of the cache, which keeps the newest halves. A half is at most 7 KB. */
const MAX_REMEMBERED_COUNT = 1000;

function digestOf(...parts: readonly Uint8Array[]): string {
  return bytesToHex(sha256(concatBytes(...parts.map(encodeVector))));
}

function digestOfPurpose({ dwalletId, triple, message }: HalfPurpose): string {
  const { curve, signatureAlgorithm, hash } = triple;
  const names = [dwalletId, curve, signatureAlgorithm, hash].map((name) => new TextEncoder().encode(name));
  return digestOf(...names, message);
}
