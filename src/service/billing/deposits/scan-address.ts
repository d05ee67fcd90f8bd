import sql from "sql-template-tag";
import type { AuditOrigin } from "../../audit/audit-event.ts";
import type { OwnedCoin } from "../../chain/payment-reader.ts";
import { text } from "../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../platform/store/database.ts";
import { creditDeposits } from "./credit-deposits.ts";
import type { Deposits } from "./deposits.ts";
import { readPayments, recordPayments, type WatchedAddress } from "./record-payment.ts";
import { scanAddressBalance } from "./scan-address-balance.ts";

/**
 * Reads the coins of an address and its balances outside of coins, stores the payments that brought new ones, and
 * credits deposits as the rules allow.
 */
export async function scanAddress(deposits: Deposits, watched: WatchedAddress): Promise<ScanResult> {
  const digests = new Set<string>();
  for (const { coinType } of deposits.coins) {
    let cursor: string | undefined;
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const page = await deposits.reader.ownedCoins(watched.address, coinType, cursor);
      for (const digest of await unknownOf(deposits.database, deposits.network, page.coins))
        digests.add(digest);
      cursor = page.cursor;
      if (cursor === undefined) break;
    }
  }
  let foundCount = 0;
  for (const digest of [...digests].slice(0, MAX_TRANSACTIONS)) {
    const payments = await readPayments(deposits, digest);
    if ((await recordPayments(deposits, watched, digest, payments)).hasNew) foundCount++;
  }
  const balance = await scanAddressBalance(deposits, watched);
  foundCount += balance.foundCount;
  return {
    creditedCount: await creditDeposits(deposits.database, ORIGIN, deposits, watched.projectId),
    foundCount,
    hasMore: balance.hasMore || (foundCount > 0 && digests.size > MAX_TRANSACTIONS),
    unexplained: balance.unexplained,
  };
}

/** The result of a scan. */
interface ScanResult {
  /** The number of credited deposits. */
  readonly creditedCount: number;
  /** The number of transactions with new coins. */
  readonly foundCount: number;
  /** True if the address has more coins, or more settlements of its balances, than one scan reads. */
  readonly hasMore: boolean;
  /** The coin types of which the address balance is more than the recorded payments to it. */
  readonly unexplained: readonly string[];
}

/**
 * Two thousand coins of each type. Beyond that, the scan reads the largest coins, and a project can declare any
 * transaction.
 */
const MAX_PAGES = 10;
const MAX_TRANSACTIONS = 100;
const ORIGIN: AuditOrigin = { actor: "system" };

/** Returns the transactions of the coins that are not stored yet, in the order of the coins. */
async function unknownOf(db: Queryable, network: string, coins: readonly OwnedCoin[]): Promise<string[]> {
  if (coins.length === 0) return [];
  const objectIds = coins.map(({ objectId }) => objectId);
  const versions = coins.map(({ version }) => version);
  const digests = coins.map(({ txDigest }) => txDigest);
  const rows = await readRows(
    db,
    sql`SELECT c.digest FROM unnest(${objectIds}::text[], ${versions}::text[], ${digests}::text[])
       WITH ORDINALITY AS c (object_id, version, digest, position)
     WHERE NOT EXISTS (SELECT FROM deposit_coin k
       WHERE k.network = ${network} AND k.object_id = c.object_id AND k.version = c.version)
     GROUP BY c.digest ORDER BY min(c.position)`,
    { digest: text },
  );
  return rows.map(({ digest }) => digest);
}

/** Scans every deposit address of the network once, at current prices. Returns the number of credited deposits. */
export async function scanEveryAddress(deposits: Deposits, signal: AbortSignal): Promise<number> {
  const { database, network, prices } = deposits;
  await prices.refresh?.(signal);
  let creditedCount = 0;
  for (let after = FIRST; ; ) {
    const page = await database.prisma.depositAddress.findMany({
      where: { network, address: { gt: after } },
      orderBy: { address: "asc" },
      take: PAGE_COUNT,
      select: { address: true, projectId: true },
    });
    for (const watched of page) {
      for (let hasMore = true; hasMore; ) {
        const found = await scanAddress(deposits, watched);
        creditedCount += found.creditedCount;
        hasMore = found.hasMore;
      }
    }
    const last = page.at(PAGE_COUNT - 1);
    if (last === undefined) return creditedCount;
    after = last.address;
  }
}

/** Sorts before every address. */
const FIRST = "";
const PAGE_COUNT = 100;
