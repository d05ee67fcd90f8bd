/** Retention by several replicas while signatures are made, on a real PostgreSQL. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { emptyTransactions } from "../../src/service/chain/submit/outbox.ts";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { deleteLapsedReservations, emptyRequests } from "../../src/service/signing/loops/retention-loop.ts";
import { signSteps } from "../support/crypto/sign-steps.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { endOperation } from "../support/database/retention-rows.ts";
import {
  dwalletOf,
  moneyOf,
  projectWith,
  readyPresigns,
  type TestDWalletRow,
} from "../support/database/rows.ts";

const REPLICAS = 4;
const database = await openRaceDatabase({
  count: 16,
  because: "four replicas remove rows while many requests run",
});
afterAll(() => database?.close());

describe.skipIf(database === undefined)("retention", () => {
  const db = database!;
  const steps = signSteps(db, createLocalSignals());
  let projectId: string;
  let dwallet: TestDWalletRow;

  beforeEach(async () => {
    projectId = await projectWith(db, 10_000n);
    dwallet = await dwalletOf(db, projectId);
    await readyPresigns(db, dwallet.bucket, 40);
  });

  it("empties each row once, in bounded batches, with several replicas", async () => {
    await db.query(
      `INSERT INTO chain_transaction (digest, network, sender, lane, bytes, state, resolved_at)
       SELECT 'old' || n, 'localnet', 'sender', 'lane', '\\x01', 'landed', now() - n * interval '1 second'
       FROM generate_series(1, 500) AS n`,
    );
    const batches = await byAll(() => emptyTransactions(db, 0, 40));
    expect(batches.reduce((sum, count) => sum + count, 0)).toBe(500);
    expect(Math.max(...batches)).toBe(40);
  });

  it("does not wait for rows that another transaction holds", async () => {
    const ids = [await ended(), await ended(), await ended()];
    await db.transaction(async (other) => {
      await other.query("SELECT 1 FROM sign_request WHERE id = $1 FOR UPDATE", [ids[0]]);
      expect(await emptyRequests(db, 0, 10)).toBe(2);
    });
    expect(await emptyRequests(db, 0, 10)).toBe(1);
  });

  it("never removes the half of an open request, even while requests change their states", async () => {
    let isSigning = true;
    const retention = Array.from({ length: REPLICAS }, async () => {
      let count = 0;
      do {
        count += await emptyRequests(db, 0, 5);
        count += await deleteLapsedReservations(db, 0, 5);
      } while (isSigning);
      return count;
    });
    // Landing compares the half with the chain's, and fails if the half is gone.
    const ids = await Promise.all(Array.from({ length: 20 }, () => ended()));
    const lapsed = await Promise.all(Array.from({ length: 5 }, () => steps.reserve(projectId, dwallet)));
    for (const id of lapsed) await steps.expire(id);
    const open = await steps.reserve(projectId, dwallet);
    isSigning = false;
    await Promise.all(retention);
    while ((await emptyRequests(db, 0, 5)) + (await deleteLapsedReservations(db, 0, 5)) > 0);
    const rows = await db.query<{ id: string; status: string; size: number | null }>(
      `SELECT id, status, octet_length(user_sign_message) AS size FROM sign_request WHERE project_id = $1`,
      [projectId],
    );
    const expected = [
      ...ids.map((id) => ({ id, status: "completed", size: 0 })),
      { id: open, status: "prepared", size: null },
    ];
    expect(rows).toHaveLength(expected.length);
    expect(rows).toEqual(expect.arrayContaining(expected));
    expect(await moneyOf(db, projectId)).toMatchObject({ balance: 9_800n, held: 10n, differences: [] });
  });

  async function ended(): Promise<string> {
    const id = await steps.reserve(projectId, dwallet);
    await steps.submit(projectId, id);
    await steps.land(id);
    await steps.complete(id, dwallet);
    await endOperation(db, id);
    return id;
  }

  /** The rows that each batch of all replicas took, until none was left. */
  async function byAll(batch: () => Promise<number>): Promise<number[]> {
    const counts: number[] = [];
    await Promise.all(
      Array.from({ length: REPLICAS }, async () => {
        for (let count = await batch(); count > 0; count = await batch()) counts.push(count);
      }),
    );
    return counts;
  }
});
