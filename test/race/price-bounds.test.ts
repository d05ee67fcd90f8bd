/** Two replicas read prices at the same time, on a real PostgreSQL. */

import { EventEmitter, once } from "node:events";
import { afterAll, describe, expect, it } from "vitest";
import type { PriceState } from "../../src/service/billing/prices/check-price.ts";
import { takeReading } from "../../src/service/billing/prices/stored-prices.ts";
import { type Database, newId } from "../../src/service/platform/store/database.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { pollUntil } from "../support/poll-until.ts";

const BOUNDS = { maxStepPercent: 20, maxHourPercent: 30, maxDayPercent: 60, holdMs: 60_000 };
const NOW_MS = Date.UTC(2026, 0, 31, 12);

const test = await migratedDatabase();
const pool = test && (await openTestPool(test.url));
afterAll(async () => {
  await pool?.close();
  await test?.drop();
});

describe.skipIf(test === undefined)("prices that two replicas read at once", () => {
  const database = pool!;
  const take = (
    db: Database,
    network: string,
    [picoUsd, seconds]: readonly [number, number],
  ): Promise<PriceState> =>
    takeReading(
      db,
      { network, coinType: "0x2::sui::SUI" },
      { picoUsd: BigInt(picoUsd), time: new Date(NOW_MS + 1_000 * seconds), sourceCount: 1 },
      NOW_MS,
      BOUNDS,
    );

  /** Takes two readings, the second while the first one has read the stored price and has not written the new one. */
  async function takeBoth(
    first: readonly [number, number],
    second: readonly [number, number],
  ): Promise<PriceState> {
    const network = newId();
    await take(database, network, [100, 0]);
    const events = new EventEmitter();
    const hasRead = once(events, "read");
    const slow = take(
      {
        ...database,
        transaction: (work) =>
          database.transaction((db) =>
            work({
              async query<Row>(statement: string, parameters?: readonly unknown[]) {
                if (statement.startsWith("UPDATE coin_price")) {
                  const released = once(events, "released");
                  events.emit("read");
                  await released;
                }
                return db.query<Row>(statement, parameters);
              },
            }),
          ),
      },
      network,
      first,
    );
    await hasRead;
    let isOver = false;
    const waiting = take(database, network, second).finally(() => {
      isOver = true;
    });
    const busy = { count: 1, because: "both readings hold a connection" };
    const observer = await openTestPool(test!.url, { connections: busy });
    try {
      await pollUntil(async () => {
        const rows = await observer.query(
          "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        );
        return isOver || rows.length > 0;
      });
    } finally {
      await observer.close();
      events.emit("released");
    }
    await Promise.all([slow, waiting]);
    // A third reading that is not newer tells what is stored.
    return take(database, network, [100, 0]);
  }

  it("end with the newest, even if the older one is written last", async () => {
    const { accepted } = await takeBoth([105, 5], [110, 9]);
    expect(accepted).toEqual({ picoUsd: 110n, time: new Date(NOW_MS + 9_000) });
  });

  it("move together by at most the bound of an hour", async () => {
    expect(await takeBoth([119, 1], [90, 2])).toMatchObject({
      accepted: { picoUsd: 119n },
      doubted: { beyond: "hour" },
    });
  });
});
