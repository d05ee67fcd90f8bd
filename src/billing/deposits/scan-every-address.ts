import type { Deposits } from "./deposits.ts";
import { scanAddress } from "./scan-address.ts";

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
