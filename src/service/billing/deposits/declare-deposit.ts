import type { AuditOrigin } from "../../audit/audit-event.ts";
import type { Payment } from "../../chain/payment-reader.ts";
import { ServiceError } from "../../platform/errors/service-error.ts";
import { creditDeposits } from "./credit-deposits.ts";
import { depositAddress } from "./deposit-address.ts";
import type { Deposits, RefusalReason } from "./deposits.ts";
import { type DepositRow, readDeposits } from "./list-deposits.ts";
import { readPayments, recordPayments, type WatchedAddress } from "./record-payment.ts";

/**
 * Reads one transaction at once and credits its deposits if the rules allow it. Throws DEPOSIT_NOT_FOUND,
 * DEPOSIT_TAKEN, PRICE_FEED_STALE if a deposit has no fresh price, CHAIN_READS_EXHAUSTED and CHAIN_UNAVAILABLE. Repeats
 * a recent refusal without reading the chain.
 */
export async function declareDeposit(
  deposits: Deposits,
  { projectId, origin }: Declarer,
  txDigest: string,
): Promise<readonly DepositRow[]> {
  const { database, network, prices, coins, recentRefusals } = deposits;
  const read = () => readDeposits(database, { projectId, network, txDigest });
  if ((await read()).length === 0) {
    const known = recentRefusals.find(projectId, txDigest);
    if (known !== undefined) throw refusal(known, txDigest);
    const payments = await readPayments({ coins, reader: deposits.readerFor(projectId) }, txDigest);
    await depositAddress(deposits, { projectId, reference: "" });
    const paid = await paidAddresses(deposits, payments);
    const own = paid.filter((address) => address.projectId === projectId);
    for (const { address } of own) await recordPayments(deposits, { address, projectId }, txDigest, payments);
    if (own.length === 0) {
      const reason = paid.length > 0 ? "DEPOSIT_TAKEN" : "DEPOSIT_NOT_FOUND";
      recentRefusals.add(projectId, txDigest, reason);
      throw refusal(reason, txDigest);
    }
  }
  await creditDeposits(database, origin, deposits, projectId);
  const rows = await read();
  const unpriced = rows.filter(({ state, coinType }) => state === "waiting" && !prices.priceOf(coinType));
  if (unpriced.length === 0) return rows;
  throw new ServiceError("PRICE_FEED_STALE", "the deposit is recorded and waits for a fresh price", {
    metadata: { coinTypes: unpriced.map(({ coinType }) => coinType).join(",") },
  });
}

/** The caller that declares a deposit. */
export interface Declarer {
  readonly projectId: string;
  readonly origin: AuditOrigin;
}

/** Returns the deposit addresses of any project among those that a transaction paid. */
function paidAddresses(
  { database, network }: Deposits,
  payments: readonly Payment[],
): Promise<WatchedAddress[]> {
  const addresses = [...new Set(payments.map(({ address }) => address))];
  return database.prisma.depositAddress.findMany({
    where: { network, address: { in: addresses } },
    select: { address: true, projectId: true },
  });
}

function refusal(reason: RefusalReason, txDigest: string): ServiceError {
  return new ServiceError(reason, REFUSALS[reason], { metadata: { txDigest } });
}

const REFUSALS: Readonly<Record<RefusalReason, string>> = {
  DEPOSIT_TAKEN: "the transaction paid another project",
  DEPOSIT_NOT_FOUND: "no such transaction paid a deposit address of the project",
};
