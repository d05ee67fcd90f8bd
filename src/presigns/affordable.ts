import type { TreasuryReader } from "../chain/treasury/treasury-reader.ts";
import type { Clock } from "../lifecycle/clock.ts";
import type { PresignBucket } from "./bucket.ts";

/**
 * Creates a function that counts the presigns that the Treasury can pay for. The price of a presign includes that of
 * its signature, so the pool never buys presigns without the means to sign. Balances and prices are cached for
 * `rememberedMs`, by default ten seconds.
 */
export function createAffordable(
  treasury: Pick<TreasuryReader, "balances" | "price">,
  clock: Pick<Clock, "now">,
  rememberedMs = DEFAULT_REMEMBERED_MS,
): Affordable {
  const known = new Map<string, { readonly count: Promise<number>; readonly untilMs: number }>();
  return ({ curve, signatureAlgorithm }) => {
    const key = `${curve}/${signatureAlgorithm}`;
    const last = known.get(key);
    if (last !== undefined && last.untilMs > clock.now()) return last.count;
    const count = read(curve, signatureAlgorithm);
    known.set(key, { count, untilMs: clock.now() + rememberedMs });
    count.catch(() => known.delete(key));
    return count;
  };

  async function read(curve: number, signatureAlgorithm: number): Promise<number> {
    const [balances, presign, sign] = await Promise.all([
      treasury.balances(),
      treasury.price(curve, signatureAlgorithm, "presign"),
      treasury.price(curve, signatureAlgorithm, "sign"),
    ]);
    // The chain itself refuses an operation without a price, so no limit is needed here.
    if (presign === undefined || sign === undefined) return Number.MAX_SAFE_INTEGER;
    const times = (balance: bigint, price: bigint) =>
      price === 0n ? Number.MAX_SAFE_INTEGER : Number(balance / price);
    return Math.min(times(balances.ika, presign.ika + sign.ika), times(balances.sui, presign.sui + sign.sui));
  }
}

/** Returns the number of a bucket's presigns that the Treasury can pay for, including those in stock. */
export type Affordable = (bucket: PresignBucket) => Promise<number>;

const DEFAULT_REMEMBERED_MS = 10_000;
