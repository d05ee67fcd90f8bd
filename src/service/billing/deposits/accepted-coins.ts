import { normalizeStructTag } from "@mysten/sui/utils";
import type { PaymentReader } from "../../chain/payment-reader.ts";

/**
 * Returns the coins with these names: `SUI`, `IKA`, or a full coin type. Reads the symbol and decimals of other coins
 * from the chain. Throws if the chain has no metadata of a coin.
 */
export async function acceptedCoins(
  names: Iterable<string>,
  ikaPackage: string,
  reader: Pick<PaymentReader, "coinMetadata">,
): Promise<AcceptedCoin[]> {
  const known: Readonly<Record<string, string>> = { SUI: "0x2::sui::SUI", IKA: `${ikaPackage}::ika::IKA` };
  const coins: AcceptedCoin[] = [];
  for (const name of names) {
    const coinType = normalizeStructTag(known[name] ?? name);
    if (coins.some((coin) => coin.coinType === coinType)) {
      throw new Error(`BILLING_USD_PRICES: ${name} is also listed under another name`);
    }
    const metadata =
      name in known ? { symbol: name, decimals: DECIMALS } : await reader.coinMetadata(coinType);
    if (metadata === undefined || metadata.decimals > MAX_DECIMALS) {
      throw new Error(`BILLING_USD_PRICES: the network knows no coin of the type ${coinType}`);
    }
    coins.push({ name, coinType, symbol: metadata.symbol, decimals: metadata.decimals });
  }
  return coins;
}

/** A type of coin that the service accepts as a deposit. */
export interface AcceptedCoin {
  /** The operator's name for it: `SUI`, `IKA` or a coin type as configured. */
  readonly name: string;
  /** Normalised: full addresses, lower case. */
  readonly coinType: string;
  readonly symbol: string;
  /** One whole coin has 10^decimals smallest units. */
  readonly decimals: number;
}

/** `sui::sui` and `ika::ika` both create their currency with nine decimals. */
const DECIMALS = 9;
/** With more decimals, the largest u64 would be worth less than a few coins. */
const MAX_DECIMALS = 18;
