import sql, { type Sql } from "sql-template-tag";
import { type AuditOrigin, writeAuditEvent } from "../../audit/audit-event.ts";
import { ServiceError } from "../../platform/errors/service-error.ts";
import { DAY_MS, HOUR_MS } from "../../platform/lifecycle/clock.ts";
import { bigint, nullable, oneOf, text, time } from "../../platform/store/columns.ts";
import {
  type Database,
  execute,
  type Queryable,
  readRows,
  type Transactor,
} from "../../platform/store/database.ts";
import {
  type AgreedPrice,
  checkPrice,
  type DoubtedPrice,
  isWithinPercent,
  type PriceBounds,
  type PriceState,
} from "./check-price.ts";
import { type CoinPrice, formatUsdPrice } from "./price-source.ts";

/**
 * Checks a reading against the stored state of the coin's price, and stores and returns the new state. Replicas take
 * turns at a coin's row, so that together they accept no more than one of them would.
 */
export function takeReading(
  database: Transactor,
  coin: StoredCoin,
  reading: AgreedPrice,
  nowMs: number,
  bounds: PriceBounds,
): Promise<PriceState> {
  return database.transaction(async (db) => {
    if (await insertFirst(db, coin, reading)) {
      await widenRange(db, coin, [reading.picoUsd], nowMs);
      return { accepted: { picoUsd: reading.picoUsd, time: reading.time } };
    }
    const before = await lockPrice(db, coin, nowMs);
    const after = checkPrice(before, reading, nowMs, bounds);
    if (after === before) return before;
    await writePrice(db, coin, after);
    if (after.accepted === before.accepted) return after;
    // The earlier price counted until now, however long ago it was read.
    const prices = [before.accepted, after.accepted].flatMap((price) => (price ? [price.picoUsd] : []));
    await widenRange(db, coin, prices, nowMs);
    await forgetRanges(db, coin, nowMs - DAY_MS - RANGE_MS);
    return { ...after, ...(await readRanges(db, coin, nowMs)) };
  });
}

/** A coin on a network. */
interface StoredCoin {
  readonly network: string;
  /** Normalised. */
  readonly coinType: string;
}

/** Locks a coin's price until the end of the transaction and returns its state. Empty if it was never priced. */
export async function lockPrice(db: Queryable, coin: StoredCoin, nowMs: number): Promise<PriceState> {
  const { network, coinType } = coin;
  const one = sql`WHERE network = ${network} AND coin_type = ${coinType} FOR UPDATE`;
  const [stored] = await readStoredPrices(db, one);
  if (stored === undefined) return {};
  const { picoUsd, time, doubted } = stored;
  return { accepted: { picoUsd, time }, doubted, ...(await readRanges(db, coin, nowMs)) };
}

/** Returns the prices of a network's coins that sources have priced, by coin type. */
export function listStoredPrices(db: Queryable, network: string): Promise<StoredPrice[]> {
  return readStoredPrices(db, sql`WHERE network = ${network} ORDER BY coin_type`);
}

/** The last accepted price of a coin, and the one that waits. */
export interface StoredPrice extends CoinPrice {
  readonly coinType: string;
  readonly doubted: DoubtedPrice | undefined;
}

/** Makes a price the accepted one, at which its bounds start. */
export async function acceptPrice(
  db: Queryable,
  coin: StoredCoin,
  price: CoinPrice,
  nowMs: number,
): Promise<void> {
  await writePrice(db, coin, { accepted: price });
  await forgetRanges(db, coin, nowMs);
  await widenRange(db, coin, [price.picoUsd], nowMs);
}

/** The length of a range. Shorter ones would follow the window more closely, and be more rows. */
const RANGE_MS = 300_000;

async function readStoredPrices(db: Queryable, where: Sql): Promise<StoredPrice[]> {
  const rows = await readRows(
    db,
    sql`SELECT coin_type AS "coinType", price_pico_usd AS "picoUsd", read_at AS "readAt",
          doubted_pico_usd AS "doubtedPicoUsd", doubted_at AS "doubtedAt", doubted_since AS "since",
          doubted_for AS "beyond"
        FROM coin_price ${where}`,
    {
      coinType: text,
      picoUsd: bigint,
      readAt: time,
      doubtedPicoUsd: nullable(bigint),
      doubtedAt: nullable(time),
      since: nullable(time),
      beyond: nullable(oneOf("step", "hour", "day")),
    },
  );
  return rows.map(({ coinType, picoUsd, readAt, doubtedPicoUsd, doubtedAt, since, beyond }) => ({
    coinType,
    picoUsd,
    time: readAt,
    doubted:
      doubtedPicoUsd === null || doubtedAt === null || since === null || beyond === null
        ? undefined
        : { price: { picoUsd: doubtedPicoUsd, time: doubtedAt }, since, beyond },
  }));
}

async function insertFirst(
  db: Queryable,
  { network, coinType }: StoredCoin,
  { picoUsd, time: readAt }: CoinPrice,
): Promise<boolean> {
  const insertedCount = await execute(
    db,
    sql`INSERT INTO coin_price (network, coin_type, price_pico_usd, read_at)
        VALUES (${network}, ${coinType}, ${picoUsd}, ${readAt})
        ON CONFLICT (network, coin_type) DO NOTHING RETURNING coin_type`,
  );
  return insertedCount > 0;
}

async function writePrice(
  db: Queryable,
  { network, coinType }: StoredCoin,
  { accepted, doubted }: PriceState,
): Promise<void> {
  if (accepted === undefined) throw new TypeError("a stored price was accepted once");
  await execute(
    db,
    sql`UPDATE coin_price SET price_pico_usd = ${accepted.picoUsd}, read_at = ${accepted.time},
          doubted_pico_usd = ${doubted?.price.picoUsd ?? null}, doubted_at = ${doubted?.price.time ?? null},
          doubted_since = ${doubted?.since ?? null}, doubted_for = ${doubted?.beyond ?? null}
        WHERE network = ${network} AND coin_type = ${coinType}`,
  );
}

/** Returns the ranges of the last hour and the last day. A range that began before the window counts until it ends. */
async function readRanges(
  db: Queryable,
  { network, coinType }: StoredCoin,
  nowMs: number,
): Promise<Pick<PriceState, "hour" | "day">> {
  const hourFrom = new Date(nowMs - HOUR_MS - RANGE_MS);
  const dayFrom = new Date(nowMs - DAY_MS - RANGE_MS);
  const [row] = await readRows(
    db,
    sql`SELECT min(low_pico_usd) AS "dayLow", max(high_pico_usd) AS "dayHigh",
          min(low_pico_usd) FILTER (WHERE began_at > ${hourFrom}) AS "hourLow",
          max(high_pico_usd) FILTER (WHERE began_at > ${hourFrom}) AS "hourHigh"
        FROM coin_price_range
        WHERE network = ${network} AND coin_type = ${coinType} AND began_at > ${dayFrom}`,
    {
      dayLow: nullable(bigint),
      dayHigh: nullable(bigint),
      hourLow: nullable(bigint),
      hourHigh: nullable(bigint),
    },
  );
  const rangeOf = (low: bigint | null | undefined, high: bigint | null | undefined) =>
    low == null || high == null ? undefined : { lowPicoUsd: low, highPicoUsd: high };
  return { hour: rangeOf(row?.hourLow, row?.hourHigh), day: rangeOf(row?.dayLow, row?.dayHigh) };
}

async function widenRange(
  db: Queryable,
  { network, coinType }: StoredCoin,
  prices: readonly bigint[],
  nowMs: number,
): Promise<void> {
  const beganAt = new Date(nowMs - (nowMs % RANGE_MS));
  await execute(
    db,
    sql`INSERT INTO coin_price_range AS r (network, coin_type, began_at, low_pico_usd, high_pico_usd)
        SELECT ${network}, ${coinType}, ${beganAt}, min(price), max(price)
        FROM unnest(${prices.map(String)}::bigint[]) AS p (price)
        ON CONFLICT (network, coin_type, began_at) DO UPDATE
        SET low_pico_usd = least(r.low_pico_usd, excluded.low_pico_usd),
          high_pico_usd = greatest(r.high_pico_usd, excluded.high_pico_usd)`,
  );
}

async function forgetRanges(
  db: Queryable,
  { network, coinType }: StoredCoin,
  beforeMs: number,
): Promise<void> {
  await execute(
    db,
    sql`DELETE FROM coin_price_range
        WHERE network = ${network} AND coin_type = ${coinType} AND began_at <= ${new Date(beforeMs)}`,
  );
}

/**
 * Accepts the waiting price of a coin, and starts its bounds at it. The operator names the price that they found
 * elsewhere, so that they confirm no other one. Replicas use it at their next reading. Throws WRONG_STATE if no price
 * waits, or if the waiting one is not close to the named one.
 */
export function confirmPrice(
  database: Database,
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
interface Confirmation extends StoredCoin {
  readonly picoUsd: bigint;
  /** How far the waiting price may be from it. */
  readonly tolerancePercent: number;
  readonly nowMs: number;
}
