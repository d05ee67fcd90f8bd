import sql from "sql-template-tag";
import { bigint, boolean, nullable, text } from "../../platform/store/columns.ts";
import { execute, type Queryable, readRows, type Transactor } from "../../platform/store/database.ts";
import type { Deposits } from "./deposits.ts";
import { readPayments, recordPayments, type WatchedAddress } from "./record-payment.ts";

/**
 * Stores the payments that changed the address balances since the last scan. Follows each balance back from its newest
 * settlement to the version up to which everything is recorded, or to its first settlement. That mark moves at the end.
 * A deposit has the key of any other one: the transaction, the address and the coin type. A repeated or a concurrent
 * scan therefore credits nothing twice. A scan that dies loses nothing. The service's own sweeps of credited deposits may
 * empty a balance, which then begins again at zero. Throws if this fullnode lacks a part of the history.
 */
export async function scanAddressBalance(
  deposits: BalanceScan,
  watched: WatchedAddress,
): Promise<BalanceScanResult> {
  const { database, coins, reader } = deposits;
  const coinTypes = coins.map(({ coinType }) => coinType);
  const marks = await readMarks(database, watched.address);
  const result = { foundCount: 0, hasMore: false, unexplained: [] as string[] };
  for (const coinType of await changedTypes()) {
    const mark = marks.get(coinType) ?? NO_MARK;
    const [balance] = await reader.addressBalances(watched.address, [coinType]);
    const { topVersion, nextDigest } = mark;
    const start =
      topVersion !== null && nextDigest !== null
        ? { version: topVersion, settlement: nextDigest }
        : balance && { version: balance.version, settlement: balance.settlement };
    if (start === undefined) continue;
    const walked = await walk(deposits, watched, { coinType, from: start.settlement, until: mark.version });
    result.foundCount += walked.foundCount;
    const { next } = walked;
    await moveMark(database, { address: watched.address, coinType, mark }, start.version, next);
    const isNewer = balance !== undefined && balance.version > start.version;
    if (next !== undefined || isNewer) result.hasMore = true;
    else if (balance !== undefined && (await recordedAmount(database, watched, coinType)) < balance.amount)
      result.unexplained.push(coinType);
  }
  return result;

  /** Returns the coin types whose balance has another version than the mark, or a walk that is not finished. */
  async function changedTypes(): Promise<readonly string[]> {
    const balances = await reader.addressBalances(watched.address, coinTypes);
    const versions = new Map(balances.map(({ coinType, version }) => [coinType, version]));
    return coinTypes.filter((coinType) => {
      const { version, nextDigest, isOld } = marks.get(coinType) ?? NO_MARK;
      const current = versions.get(coinType);
      if (nextDigest !== null) return true;
      if (current === undefined || current === version) return false;
      // A version below the mark is that of a fullnode that lags. If it stays so, the mark itself was a lie.
      return version === null || current > version || isOld;
    });
  }
}

/**
 * Stores the payments of the settlements from this one back to the version `until`, or to the first one. Returns the
 * settlement to read next if there are more than one walk reads.
 */
async function walk(
  deposits: Recording,
  watched: WatchedAddress,
  {
    coinType,
    from,
    until,
  }: { readonly coinType: string; readonly from: string; readonly until: bigint | null },
): Promise<{ readonly foundCount: number; readonly next: string | undefined }> {
  let foundCount = 0;
  let digest = from;
  for (let step = 0; step < MAX_SETTLEMENTS; step++) {
    const settlement = await deposits.reader.settlement(digest, watched.address, coinType);
    if (settlement === undefined)
      throw new Error(
        `the fullnode lacks the history of the address balance of ${watched.address} at ${digest}`,
      );
    for (const txDigest of settlement.payments) {
      const payments = await readPayments(deposits, txDigest);
      if ((await recordPayments(deposits, watched, txDigest, payments)).hasNew) foundCount++;
    }
    const { previous } = settlement;
    if (previous === undefined || previous.version === until) return { foundCount, next: undefined };
    digest = previous.settlement;
  }
  return { foundCount, next: digest };
}

/**
 * Stores the payments that a settlement and those before it applied, back to the mark. Needed after a restore, when a
 * lost sweep has emptied the balance. Moves no mark.
 */
export async function recordSettled(
  db: Queryable,
  deposits: Pick<BalanceScan, "network" | "coins" | "reader">,
  watched: WatchedAddress,
  { coinType, settlement }: { readonly coinType: string; readonly settlement: string },
): Promise<void> {
  const until = (await readMarks(db, watched.address)).get(coinType)?.version ?? null;
  const recording = {
    ...deposits,
    database: { transaction: <T>(work: (db: Queryable) => Promise<T>) => work(db) },
  };
  for (let from: string | undefined = settlement; from !== undefined; )
    from = (await walk(recording, watched, { coinType, from, until })).next;
}

/** What a scan of address balances needs. */
type BalanceScan = Pick<Deposits, "database" | "network" | "coins" | "reader">;
type Recording = Omit<BalanceScan, "database"> & { readonly database: Transactor };

/** The result of a scan. */
interface BalanceScanResult {
  /** The number of transactions with new payments. */
  readonly foundCount: number;
  /** True if there are more settlements than one scan reads. */
  readonly hasMore: boolean;
  /** The coin types of which the address holds more than the recorded payments. */
  readonly unexplained: readonly string[];
}

/** Bounds the calls of one scan. There is at most one settlement of a balance in a checkpoint. */
const MAX_SETTLEMENTS = 50;
/** Fullnodes lag by less. */
const MARK_OLD_MS = 600_000;

/** How far the payments to an address balance are recorded. */
interface Mark {
  /** Every payment up to this version is recorded; null before the first. */
  readonly version: bigint | null;
  /** The version at which the unfinished walk began; null without one. */
  readonly topVersion: bigint | null;
  /** The settlement that the unfinished walk reads next. */
  readonly nextDigest: string | null;
  /** True if the mark was not moved for longer than fullnodes lag. */
  readonly isOld: boolean;
}

const NO_MARK: Mark = { version: null, topVersion: null, nextDigest: null, isOld: false };

async function readMarks(db: Queryable, address: string): Promise<ReadonlyMap<string, Mark>> {
  const rows = await readRows(
    db,
    sql`SELECT coin_type AS "coinType", version, top_version AS "topVersion", next_digest AS "nextDigest",
          updated_at < now() - ${MARK_OLD_MS} * interval '1 millisecond' AS "isOld"
        FROM address_balance_mark WHERE address = ${address}`,
    {
      coinType: text,
      version: nullable(bigint),
      topVersion: nullable(bigint),
      nextDigest: nullable(text),
      isOld: boolean,
    },
  );
  return new Map(rows.map(({ coinType, ...mark }) => [coinType, mark]));
}

/** Stores the progress, unless another scan has moved the mark meanwhile: then that scan's progress counts. */
async function moveMark(
  db: Queryable,
  { address, coinType, mark }: { readonly address: string; readonly coinType: string; readonly mark: Mark },
  top: bigint,
  next: string | undefined,
): Promise<void> {
  const version = next === undefined ? top : mark.version;
  const topVersion = next === undefined ? null : top;
  await execute(
    db,
    sql`INSERT INTO address_balance_mark AS m (address, coin_type, version, top_version, next_digest)
        VALUES (${address}, ${coinType}, ${version}::bigint, ${topVersion}::bigint, ${next ?? null})
        ON CONFLICT (address, coin_type) DO UPDATE SET version = excluded.version,
          top_version = excluded.top_version, next_digest = excluded.next_digest, updated_at = now()
        WHERE m.version IS NOT DISTINCT FROM ${mark.version}::bigint
          AND m.next_digest IS NOT DISTINCT FROM ${mark.nextDigest}::text`,
  );
}

/** Returns the recorded payments to the address balance that no landed sweep has taken. */
async function recordedAmount(db: Queryable, { address }: WatchedAddress, coinType: string): Promise<bigint> {
  const [sum] = await readRows(
    db,
    sql`SELECT coalesce(sum(c.amount), 0)::text AS amount FROM deposit_coin c JOIN deposit d ON d.id = c.deposit_id
          LEFT JOIN sweep s ON s.id = c.sweep_id
        WHERE d.address = ${address} AND d.coin_type = ${coinType} AND c.in_address_balance
          AND (s.id IS NULL OR s.state <> 'landed')`,
    { amount: text },
  );
  return BigInt(sum?.amount ?? 0);
}
