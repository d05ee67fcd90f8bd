import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type Admin,
  type CoinPrice,
  CoinPriceSchema,
  WaitingPrice_Bound,
} from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { callerOf } from "../../access/caller.ts";
import { formatUsdPrice, parseUsdPrice } from "../../billing/prices/price-source.ts";
import { confirmPrice, listStoredPrices, type StoredPrice } from "../../billing/prices/stored-prices.ts";
import { invalidField, ServiceError } from "../../platform/errors/service-error.ts";
import type { Database } from "../../platform/store/database.ts";

/** Implements the calls of `tss.v1.Admin` about the prices of coins. They need only the database. */
export function createPriceCalls({
  database,
  clock,
}: {
  readonly database: Database;
  readonly clock: { wallMs(): number };
}): AdminPriceCalls {
  return {
    async listCoinPrices(_request, context) {
      const prices = await listStoredPrices(database, callerOf(context, "admin").network);
      return { coinPrices: prices.map(encodeCoinPrice) };
    },
    async confirmCoinPrice({ coin, priceUsd }, context) {
      const { network, origin } = callerOf(context, "admin");
      const picoUsd = parseUsdPrice(priceUsd);
      if (picoUsd === undefined) throw invalidField("price_usd", "is not above 0 and at most a million");
      const { coinType } = findCoin(await listStoredPrices(database, network), coin);
      const terms = { picoUsd, tolerancePercent: TOLERANCE_PERCENT, nowMs: clock.wallMs() };
      const price = await confirmPrice(database, origin, { network, coinType, ...terms });
      return { coinPrice: encodeCoinPrice({ coinType, ...price, doubted: undefined }) };
    },
  };
}

/** The calls of `tss.v1.Admin` about the prices of coins. */
export type AdminPriceCalls = Pick<ServiceImpl<typeof Admin>, "listCoinPrices" | "confirmCoinPrice">;

/** How far the market may move while an operator looks at it. */
const TOLERANCE_PERCENT = 5;

function findCoin(prices: readonly StoredPrice[], coin: string): StoredPrice {
  const found = prices.filter(({ coinType }) => coinType === coin || coinType.endsWith(`::${coin}`));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const what = found.length === 0 ? "no source has priced this coin" : "several coins have this name";
  throw new ServiceError("WRONG_STATE", `${what}: see the coin types of ListCoinPrices`);
}

function encodeCoinPrice({ coinType, picoUsd, time, doubted }: StoredPrice): CoinPrice {
  return create(CoinPriceSchema, {
    coinType,
    priceUsd: formatUsdPrice(picoUsd),
    priceTime: timestampFromDate(time),
    ...(doubted && {
      waiting: {
        priceUsd: formatUsdPrice(doubted.price.picoUsd),
        priceTime: timestampFromDate(doubted.price.time),
        sinceTime: timestampFromDate(doubted.since),
        bound: WaitingPrice_Bound[doubted.beyond],
      },
    }),
  });
}
