import type { JSX } from "preact";
import { formatCoin, plainUnits } from "../../format/text.ts";

/** An amount of 10^-9 SUI or IKA with at most four decimals. The pointer shows the exact amount. */
export function Coin({ amount, symbol }: CoinProps): JSX.Element {
  return <span title={`${plainUnits(amount, 9)} ${symbol}`}>{formatCoin(amount, symbol)}</span>;
}

interface CoinProps {
  readonly amount: bigint;
  readonly symbol: "SUI" | "IKA";
}
