/** Processes that compete for lanes and operations, on a real PostgreSQL. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { enqueueOperation } from "../../src/service/chain/operation.ts";
import {
  addGasCoin,
  addLane,
  type LaneLease,
  leaseLane,
  readGasCoins,
  releaseLease,
} from "../../src/service/chain/submit/lane-table.ts";
import { claimOperations, LeaseLostError, storeTransaction } from "../../src/service/chain/submit/outbox.ts";
import { newId } from "../../src/service/platform/store/database.ts";
import { openRaceDatabase } from "../support/database/database.ts";

const NETWORK = "localnet";
const database = await openRaceDatabase({
  count: 16,
  because: "16 processes want one lease at the same time",
});
afterAll(() => database?.close());

describe.skipIf(database === undefined)("processes at the same time", () => {
  const db = database!;
  const lanes = Array.from({ length: 8 }, (_, index) => `0xcap${index}`);
  const transaction = (digest: string) => ({
    digest,
    bytes: new Uint8Array(3),
    signatures: [],
    network: NETWORK,
    sender: "0x1",
  });

  beforeEach(async () => {
    await db.query("DELETE FROM chain_operation");
    await db.query("DELETE FROM chain_transaction");
    await db.query("UPDATE lane SET leased_until = now() - interval '1 second'");
    for (const objectId of lanes) await addLane(db, NETWORK, { objectId, version: "1", digest: "d" });
  });

  const queue = async (count: number) => {
    for (let index = 0; index < count; index++) {
      const operation = { id: newId(), subjectId: newId(), network: NETWORK, kind: "sign" } as const;
      await enqueueOperation(db, { ...operation, priority: 10 });
    }
  };

  it("lease a lane to one of them at a time, each time with a higher fence", async () => {
    let last = 0n;
    for (let round = 0; round < 5; round++) {
      const leases = await Promise.all(Array.from({ length: 16 }, () => leaseLane(db, lanes[0]!, 60_000)));
      const [won, ...others] = leases.filter((lease) => lease !== undefined);
      expect(others).toEqual([]);
      expect(won!.fence).toBeGreaterThan(last);
      last = won!.fence;
      await releaseLease(db, won!);
    }
  });

  it("give a gas coin to one lane, and a coin with the same id on another network to a lane of that network", async () => {
    const coin = { objectId: "0xcoin", version: "1", digest: "d" };
    const other = { objectId: "0xother", version: "1", digest: "d" };
    await addLane(db, "testnet", other);
    // A lying fullnode of the other network may name this network's coin.
    expect(await addGasCoin(db, other.objectId, coin)).toBe(true);
    const added = await Promise.all(lanes.map((laneId) => addGasCoin(db, laneId, coin)));
    expect(added.filter(Boolean)).toEqual([true]);
    const [owner] = lanes.filter((_, index) => added[index]);
    expect(await readGasCoins(db, NETWORK)).toEqual([{ laneId: owner, objectId: coin.objectId }]);
  });

  it("share the queue, and one lane stores each operation once", async () => {
    await queue(120);
    const stored = await Promise.all(
      lanes.map(async (laneId) => {
        const lease = (await leaseLane(db, laneId, 60_000))!;
        const digests: string[] = [];
        for (;;) {
          const claimed = await claimOperations(db, NETWORK, lease, { sign: 7 });
          if (claimed.length === 0) return digests;
          const digest = newId();
          const ids = claimed.map(({ id }) => id);
          try {
            await db.transaction((db) => storeTransaction(db, lease, transaction(digest), ids));
            digests.push(digest);
            await db.query("UPDATE chain_transaction SET state = 'landed' WHERE digest = $1", [digest]);
          } catch (error) {
            // If two claims cross, the later one wins, and the earlier one stores nothing.
            if (!(error instanceof LeaseLostError)) throw error;
          }
        }
      }),
    );
    const rows = await db.query<{ state: string; digest: string }>(
      "SELECT state, tx_digest AS digest FROM chain_operation",
    );
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(["sent"]));
    const known = new Set(stored.flat());
    expect(rows.filter(({ digest }) => known.has(digest))).toHaveLength(120);
  });

  it("store nothing under a lease that another process takes over", async () => {
    for (let round = 0; round < 20; round++) {
      const laneId = lanes[round % lanes.length]!;
      const old = (await leaseLane(db, laneId, 60_000))!;
      await db.query("UPDATE lane SET leased_until = now() - interval '1 second' WHERE id = $1", [laneId]);
      const store = (lease: LaneLease, digest: string) =>
        db
          .transaction((db) => storeTransaction(db, lease, transaction(digest), []))
          .then(
            () => digest,
            (error: unknown) => error,
          );
      const [late, taken] = await Promise.all([store(old, `old-${round}`), leaseLane(db, laneId, 60_000)]);
      // Whichever locked the lane's row first, a lease with a successor must not store again.
      expect(await store(old, `older-${round}`)).toBeInstanceOf(LeaseLostError);
      const [row] = await db.query<{ n: number }>(
        "SELECT count(*)::int AS n FROM chain_transaction WHERE lane = $1 AND state = 'stored'",
        [laneId],
      );
      expect(row!.n).toBe(late === `old-${round}` ? 1 : 0);
      await db.query("UPDATE chain_transaction SET state = 'dropped' WHERE lane = $1", [laneId]);
      await releaseLease(db, taken!);
    }
  });
});
