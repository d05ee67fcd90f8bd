/** Simulates two networks on one real PostgreSQL. The fullnode of one of them fails in every way. */

import { afterAll, describe, expect, it } from "vitest";
import { testDatabase } from "../support/database/postgres.ts";
import { atNight } from "../support/environment.ts";
import { openSimServer } from "./sim-server.ts";
import { SIGN_COUNTS, simulateBeside } from "./simulate-beside.ts";

const probe = await testDatabase();
await probe?.drop();
const server = probe && (await openSimServer(2));
afterAll(() => server?.close());

describe.skipIf(server === undefined)("a network next to a failing one", () => {
  it.each(atNight([1, 2, 3, 4, 5, 6, 7, 8], [1, 2]))(
    "gives its clients only right outcomes while the other fails, with seed %d",
    { timeout: 120_000 },
    async (seed) => {
      const { faults, healthy, ill, illEndedEarlyCount } = await simulateBeside(seed, server!);
      expect(faults).toEqual([]);
      for (const { ended, spoiled, abandoned } of [...healthy, ill]) {
        expect(ended.length + abandoned.size).toBeGreaterThan(0);
        const outcomes = ended.map(({ id, status }) => ({ id, status }));
        expect(outcomes).toEqual(
          ended.map(({ id }) => ({ id, status: spoiled.has(id) ? "failed" : "completed" })),
        );
      }
      // Otherwise the faults had no effect.
      expect(illEndedEarlyCount).toBeLessThan(SIGN_COUNTS.ill);
    },
  );
});
