import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type Deposit,
  Deposit_State,
  type DepositCoin,
  DepositCoinSchema,
  DepositCreditSchema,
  DepositSchema,
} from "../../../gen/proto/tss/v1/billing_pb.ts";
import type { CoinPrice } from "../prices/price-source.ts";
import { formatUsdPrice } from "../prices/usd-price.ts";
import type { AcceptedCoin } from "./accepted-coins.ts";
import type { DepositRow, DepositState } from "./list-deposits.ts";

/** Encodes a deposit. */
export function encodeDeposit(row: DepositRow): Deposit {
  const { id, state, txDigest, coinType, amount, createdAt, swept, address, reference } = row;
  const credit = creditOf(row);
  return create(DepositSchema, {
    depositId: id,
    state: Deposit_State[state],
    txDigest,
    coinType,
    amount,
    createTime: timestampFromDate(createdAt),
    swept,
    address,
    ...(reference !== "" && { reference }),
    ...(credit && { credit }),
  });
}

/** Encodes an accepted coin, with its price if there is a fresh one. */
export function encodeDepositCoin(coin: AcceptedCoin, price: CoinPrice | undefined): DepositCoin {
  const { coinType, symbol, decimals } = coin;
  return create(DepositCoinSchema, {
    coinType,
    symbol,
    decimals,
    ...(price && { priceUsd: formatUsdPrice(price.picoUsd), priceTime: timestampFromDate(price.time) }),
  });
}

/** Returns the filter by state; undefined without one. */
export function depositStateOf(state: Deposit_State | undefined): DepositState | undefined {
  if (state === Deposit_State.waiting) return "waiting";
  return state === Deposit_State.credited ? "credited" : undefined;
}

function creditOf({ pricePicoUsd, valueMicroUsd, ledgerKey, creditedAt }: DepositRow) {
  if (pricePicoUsd === null || valueMicroUsd === null || ledgerKey === null || creditedAt === null) {
    return undefined;
  }
  return create(DepositCreditSchema, {
    creditTime: timestampFromDate(creditedAt),
    priceUsd: formatUsdPrice(pricePicoUsd),
    valueMicroUsd,
    ledgerEntryId: ledgerKey,
  });
}
