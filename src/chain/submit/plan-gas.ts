import type { GasCoin } from "../reader.ts";

/**
 * Assigns each spare coin, the largest first, to the lane with the least gas. If lanes are still low, the richest lane
 * splits its coins evenly with them, if that gives every lane enough.
 */
export function planGas(lanes: readonly LaneGas[], spare: readonly GasCoin[]): GasPlan {
  const balances = new Map(lanes.map(({ laneId, balanceMist }) => [laneId, balanceMist]));
  const byBalance = () => [...balances].sort(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0));
  const assign = [...spare]
    .sort((a, b) => (a.balanceMist > b.balanceMist ? -1 : 1))
    .flatMap((coin) => {
      const [poorest] = byBalance();
      if (poorest === undefined) return [];
      balances.set(poorest[0], poorest[1] + coin.balanceMist);
      return [{ laneId: poorest[0], coin }];
    });
  const low = byBalance().filter(([, balance]) => balance < LOW_GAS_MIST);
  const richest = byBalance().at(-1);
  if (low.length === 0 || richest === undefined) return { assign, split: undefined, short: [] };
  const share = richest[1] / BigInt(low.length + 1);
  if (share < 2n * LOW_GAS_MIST) return { assign, split: undefined, short: low.map(([laneId]) => laneId) };
  return { assign, split: { laneId: richest[0], amountsMist: low.map(() => share) }, short: [] };
}

/** The gas of a lane. */
export interface LaneGas {
  readonly laneId: string;
  readonly balanceMist: bigint;
}

/** The plan that keeps gas in every lane. */
export interface GasPlan {
  /** The spare coins and the lanes that get them. */
  readonly assign: readonly { readonly laneId: string; readonly coin: GasCoin }[];
  /** The lane whose coins are split, and the amounts. The next plan assigns the new coins. */
  readonly split: { readonly laneId: string; readonly amountsMist: readonly bigint[] } | undefined;
  /** Lanes that stay low because the wallet is short of SUI. */
  readonly short: readonly string[];
}

/** Half a SUI, enough for about ten blocks. A lane with less gets more. */
export const LOW_GAS_MIST = 500_000_000n;
