import { type AuditOrigin, writeAuditEvent } from "../../audit/audit-event.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { Database } from "../../store/database.ts";
import { isWithinPercent } from "./check-price.ts";
import type { CoinPrice } from "./price-source.ts";
import { acceptPrice, lockPrice, type StoredCoin } from "./take-reading.ts";
import { formatUsdPrice } from "./usd-price.ts";

/**
 * Accepts the waiting price of a coin, and starts its bounds at it. The operator names the price that they found
 * elsewhere, so that they confirm no other one. Replicas use it at their next reading. Throws WRONG_STATE if no price
 * waits, or if the waiting one is not close to the named one.
 */
export function confirmPrice(
  database: Pick<Database, "transaction">,
  origin: AuditOrigin,
  { picoUsd, tolerancePercent, nowMs, ...coin }: Confirmation,
): Promise<CoinPrice> {
  return database.transaction(async (db) => {
    const { doubted } = await lockPrice(db, coin, nowMs);
    if (doubted === undefined)
      throw new ServiceError("WRONG_STATE", "no price of this coin waits for a confirmation");
    const { price } = doubted;
    if (!isWithinPercent(picoUsd, price.picoUsd, tolerancePercent)) {
      const distance = `more than ${tolerancePercent} % from the given price`;
      throw new ServiceError(
        "WRONG_STATE",
        `the waiting price is ${formatUsdPrice(price.picoUsd)}, ${distance}`,
      );
    }
    await acceptPrice(db, coin, price, nowMs);
    await writeAuditEvent(db, origin, { action: "price.confirm", subject: coin.coinType });
    return price;
  });
}

/** An operator's word that a price is right. */
export interface Confirmation extends StoredCoin {
  readonly picoUsd: bigint;
  /** How far the waiting price may be from it. */
  readonly tolerancePercent: number;
  readonly nowMs: number;
}
