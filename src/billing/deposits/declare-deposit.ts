import type { Payment } from "../../chain/payment-reader.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { AuditOrigin } from "../../store/audit.ts";
import { creditDeposits } from "./credit-deposits.ts";
import { depositAddress } from "./deposit-address.ts";
import type { Deposits } from "./deposits.ts";
import { type DepositRow, readDeposits } from "./list-deposits.ts";
import { readPayments, recordPayments } from "./record-payment.ts";

/** Who declares. */
export interface Declarer {
  readonly projectId: string;
  readonly origin: AuditOrigin;
}

/**
 * Looks at one transaction now, and credits what it brought if that may be credited. Throws DEPOSIT_NOT_FOUND,
 * DEPOSIT_TAKEN, PRICE_FEED_STALE when what it brought has no fresh price, and CHAIN_UNAVAILABLE.
 */
export async function declareDeposit(
  deposits: Deposits,
  { projectId, origin }: Declarer,
  txDigest: string,
): Promise<readonly DepositRow[]> {
  const { database, network, prices } = deposits;
  const read = () => readDeposits(database, { projectId, network, txDigest });
  if ((await read()).length === 0) {
    const address = await depositAddress(deposits, projectId);
    const payments = await readPayments(deposits, txDigest);
    const { count } = await recordPayments(deposits, { address, projectId }, txDigest, payments);
    if (count === 0) {
      throw await refusal(deposits, txDigest, payments);
    }
  }
  await creditDeposits(database, origin, deposits, projectId);
  const rows = await read();
  const unpriced = rows.filter(({ state, coinType }) => state === "waiting" && !prices.priceOf(coinType));
  if (unpriced.length === 0) return rows;
  throw new ServiceError("PRICE_FEED_STALE", "the deposit is known and waits for a fresh price", {
    metadata: { coinTypes: unpriced.map(({ coinType }) => coinType).join(",") },
  });
}

async function refusal(
  { database, network }: Deposits,
  txDigest: string,
  payments: readonly Payment[],
): Promise<ServiceError> {
  const metadata = { txDigest };
  const others = await database.query(
    "SELECT 1 FROM deposit_address WHERE network = $1 AND address = ANY($2::text[]) LIMIT 1",
    [network, payments.map(({ address }) => address)],
  );
  if (others.length > 0) {
    return new ServiceError("DEPOSIT_TAKEN", "the transaction paid another project", { metadata });
  }
  return new ServiceError("DEPOSIT_NOT_FOUND", "no such transaction paid the project's deposit address", {
    metadata,
  });
}
