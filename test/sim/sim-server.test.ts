import { describe, expect, it } from "vitest";
import { testDatabase } from "../support/database/postgres.ts";
import { projectWith } from "../support/database/rows.ts";
import { createRandom } from "./random.ts";
import { createScheduler } from "./scheduler.ts";
import { openSimServer } from "./sim-server.ts";
import { simulate } from "./simulate.ts";

const probe = await testDatabase();
await probe?.drop();

describe.skipIf(probe === undefined)("a simulation's database", { timeout: 300_000 }, () => {
  it("returns the simulated time from every time function and in the defaults of columns", async () => {
    const server = (await openSimServer(0))!;
    try {
      const { database } = server;
      const scheduler = createScheduler({ random: createRandom(1), stepMaxCount: 10_000, server });
      await server.begin(scheduler);
      const times = await scheduler.drive(
        (async () => {
          await projectWith(database, 0n);
          return database.query<{ time: Date }>(
            `SELECT unnest(ARRAY[now(), clock_timestamp(), statement_timestamp(), transaction_timestamp()]) AS time
             UNION ALL SELECT created_at FROM project`,
          );
        })(),
      );
      // Time starts with the epoch by default.
      expect(times.map(({ time }) => time.getTime() < 60_000)).toEqual(Array(5).fill(true));
    } finally {
      await server.close();
    }
  });

  it("replays a seed with the same statements in the same order, and the same deaths and outcomes", async () => {
    const server = (await openSimServer(2))!;
    try {
      const [first, second] = [await simulate(4, server), await simulate(4, server)];
      // The log contains random ids.
      const told = (report: typeof first) => ({ ...report, log: [] });
      expect(told(second)).toEqual(told(first));
      const other = await simulate(11, server);
      expect(other.eventsSha256Hex).not.toBe(first.eventsSha256Hex);
    } finally {
      await server.close();
    }
  });
});
