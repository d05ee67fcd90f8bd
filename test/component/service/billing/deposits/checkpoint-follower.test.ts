/** The rows of the follower of checkpoints: its lease, its position, and the addresses that it makes due. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  leaseFollower,
  moveFollower,
  releaseFollower,
  stopFollowing,
} from "../../../../../src/service/billing/deposits/checkpoint-follower.ts";
import { hastenScans } from "../../../../../src/service/billing/deposits/follow-checkpoints.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { changedRows } from "../../../../support/database/changed-rows.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { recordQuietAddress } from "../../../../support/database/deposit-rows.ts";
import { quietAddresses } from "../../../../support/database/deposit-watch.ts";
import { objectId, projectWith } from "../../../../support/database/rows.ts";

let database: Database;
let projectId: string;
/** An address whose next scan is a day away. */
let address: string;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  for (const table of ["checkpoint_follower", "deposit_address"])
    await database.query(`DELETE FROM ${table}`);
  projectId = await projectWith(database, 0n);
  address = await recordQuietAddress(database, projectId);
});

describe("the lease of the follower", () => {
  it("has a higher number for each process that takes it, and the same one when it is renewed", async () => {
    const first = (await leaseFollower(database, "localnet", undefined))!;
    expect(first).toEqual({ network: "localnet", fence: 1n, next: null, isFollowing: false });
    expect(await leaseFollower(database, "localnet", undefined)).toBeUndefined();
    expect(await leaseFollower(database, "localnet", first)).toEqual(first);
    await database.query("UPDATE checkpoint_follower SET leased_until = now()");
    const second = (await leaseFollower(database, "localnet", undefined))!;
    expect(second.fence).toBe(2n);
    expect(await leaseFollower(database, "localnet", first)).toBeUndefined();
    await releaseFollower(database, first);
    expect(await leaseFollower(database, "localnet", undefined)).toBeUndefined();
    await releaseFollower(database, second);
    expect((await leaseFollower(database, "localnet", undefined))?.fence).toBe(3n);
  });

  it("lasts 30 seconds, and is that of its network alone", async () => {
    const testnet = (await leaseFollower(database, "testnet", undefined))!;
    const lease = await changes(() => leaseFollower(database, "localnet", undefined));
    expect(lease).toEqual({ checkpoint_follower: { localnet: ["new"] } });
    const [row] = await database.query<{ seconds: number }>(
      "SELECT extract(epoch FROM leased_until - now())::float8 AS seconds FROM checkpoint_follower WHERE network = 'localnet'",
    );
    expect(row!.seconds).toBeGreaterThan(25);
    expect(row!.seconds).toBeLessThanOrEqual(30.001);
    expect(await changes(() => releaseFollower(database, testnet))).toEqual({
      checkpoint_follower: { testnet: ["leased_until"] },
    });
  });

  it("is needed to move the position, and a move wakes the announced addresses of its network", async () => {
    const testnet = (await leaseFollower(database, "testnet", undefined))!;
    const lease = (await leaseFollower(database, "localnet", undefined))!;
    const abroad = await recordQuietAddress(database, projectId, "testnet");
    const to = { next: 9n, hasCaughtUp: false, addresses: [address, abroad, objectId()] };
    const moved = await changes(async () => expect(await moveFollower(database, lease, to)).toBe(1));
    expect(moved).toEqual({
      checkpoint_follower: { localnet: ["next_checkpoint"] },
      deposit_address: { [address]: ["due_at", "wanted_at"] },
    });
    const caughtUp = { next: 9n, hasCaughtUp: true, addresses: [] };
    expect(await changes(() => moveFollower(database, lease, caughtUp))).toEqual({
      checkpoint_follower: { localnet: ["caught_up_at", "is_following"] },
    });
    // A position that has caught up stays so until the follower gives up.
    expect(await changes(() => moveFollower(database, lease, to))).not.toHaveProperty("checkpoint_follower");
    const stale = { ...lease, fence: lease.fence - 1n };
    await quietAddresses(database);
    expect(
      await changes(async () => expect(await moveFollower(database, stale, to)).toBeUndefined()),
    ).toEqual({});
    expect(await changes(() => stopFollowing(database, stale))).toEqual({});
    expect(await changes(() => stopFollowing(database, testnet))).toEqual({});
    expect(await changes(() => stopFollowing(database, lease))).toEqual({
      checkpoint_follower: { localnet: ["is_following"] },
    });
  });

  it("keeps an announced address active for a minute, and delays neither a scan nor an activity", async () => {
    const lease = (await leaseFollower(database, "localnet", undefined))!;
    const announce = () =>
      moveFollower(database, lease, { next: 9n, hasCaughtUp: true, addresses: [address] });
    const seconds = async () => {
      const [row] = await database.query<{ due: number; wanted: number }>(
        `SELECT extract(epoch FROM due_at - now())::float8 AS due,
                extract(epoch FROM wanted_at - now())::float8 AS wanted FROM deposit_address WHERE address = $1`,
        [address],
      );
      return [Math.round(row!.due / 60) + 0, Math.round(row!.wanted / 60)];
    };
    await announce();
    expect(await seconds()).toEqual([0, -59]);
    await database.query(
      "UPDATE deposit_address SET due_at = now() - interval '5 minutes', wanted_at = now() - interval '2 minutes'",
    );
    await announce();
    expect(await seconds()).toEqual([-5, -2]);
  });
});

describe("hastening the scans", () => {
  it("brings every address of the network forward within the time that all scans take", async () => {
    await database.query("DELETE FROM deposit_address");
    for (const [network, count] of [
      ["localnet", 5_001],
      ["testnet", 3_000],
    ])
      await database.query(
        `INSERT INTO deposit_address (address, project_id, network, reference, due_at)
         SELECT $2 || '-' || lpad(n::text, 5, '0'), $1, $2, n::text, now() + interval '1 day'
         FROM generate_series(1, $3::int) AS n`,
        [projectId, network, count],
      );
    await database.query(
      "UPDATE deposit_address SET due_at = now() - interval '1 hour' WHERE address = 'localnet-00007'",
    );
    const began = await now();
    await hastenScans(database, { network: "localnet", pollMs: 1_000 });
    const rows = await database.query<{ network: string; due: Date }>(
      "SELECT network, due_at AS due FROM deposit_address ORDER BY due_at",
    );
    // Twenty scans a second: 250 seconds. One was due before. Those of another network neither count nor change.
    const waits = rows.map(({ due }) => (due.getTime() - began.getTime()) / 1_000);
    expect(Math.round(waits[0]! / 60)).toBe(-60);
    expect(waits[1]).toBeGreaterThan(-1);
    expect(waits[5_000]).toBeLessThan(251 + 60);
    expect(waits[2_500]).toBeGreaterThan(60);
    expect(rows[5_001]?.network).toBe("testnet");
    expect(waits[5_001]).toBeGreaterThan(80_000);
  });

  it("spreads few addresses over the interval between scans", async () => {
    const began = await now();
    await hastenScans(database, { network: "localnet", pollMs: 3_600_000 });
    const rows = await database.query<{ due: Date }>("SELECT due_at AS due FROM deposit_address");
    for (const { due } of rows) {
      expect(due.getTime()).toBeGreaterThanOrEqual(began.getTime() - 1);
      expect(due.getTime()).toBeLessThan(began.getTime() + 3_600_000 + 60_000);
    }
  });
});

const changes = (action: () => Promise<unknown>) =>
  changedRows(database, ["checkpoint_follower", "deposit_address"], action);

async function now(): Promise<Date> {
  const [row] = await database.query<{ now: Date }>("SELECT now() AS now");
  return row!.now;
}
