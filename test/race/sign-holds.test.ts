/** Releases, cancellations, expiries and revocations of held halves at the same time, on a real PostgreSQL. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import type { Queryable } from "../../src/service/platform/store/database.ts";
import { cancelSign, releaseSign } from "../../src/service/signing/holds/release.ts";
import { HOLDS_OF_DWALLET_MAX_COUNT } from "../../src/service/signing/holds/submit-hold.ts";
import { dueHolds, endHolds } from "../../src/service/signing/loops/hold-loop.ts";
import { readSignRequest } from "../../src/service/signing/sign-request.ts";
import {
  HOLD_PRICE,
  holdSteps,
  type KeyCaller,
  keyCaller,
  SIGN_PRICE,
} from "../support/crypto/hold-steps.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { explainReads } from "../support/database/explain-plan.ts";
import {
  dwalletOf,
  moneyOf,
  projectWith,
  readyPresigns,
  type TestDWalletRow,
} from "../support/database/rows.ts";
import { pollUntil } from "../support/poll-until.ts";
import { refusalOf } from "../support/service/service-client.ts";

const CREDIT = 1_000n;
const PRICE = SIGN_PRICE + HOLD_PRICE;
const database = await openRaceDatabase({ count: 12, because: "12 of the calls run at the same time" });
afterAll(() => database?.close());

describe.skipIf(database === undefined)("a held half", () => {
  const db = database!;
  const signals = createLocalSignals();
  const steps = holdSteps(db, signals);
  let projectId: string;
  let dwallet: TestDWalletRow;
  let signer: KeyCaller;
  let approver: KeyCaller;

  beforeEach(async () => {
    projectId = await projectWith(db, CREDIT);
    dwallet = await dwalletOf(db, projectId, { userReference: "alice" });
    await readyPresigns(db, dwallet.bucket, 2);
    signer = await keyCaller(db, projectId, ["sign"]);
    approver = await keyCaller(db, projectId, ["release"]);
  });
  const release = (id: string) => releaseSign({ database: db, signals }, approver, id);
  const cancel = (id: string) => cancelSign({ database: db, signals }, signer, id);

  it("is released, cancelled or expired: exactly one of them counts, and its money is right", async () => {
    for (let round = 0; round < 12; round++) {
      await readyPresigns(db, dwallet.bucket, 1);
      const before = (await moneyOf(db, projectId)).balance!;
      const id = await steps.held(signer, dwallet);
      // In each round another of them comes first, and the hold expires while they run.
      const expire = async () => {
        const due = "UPDATE sign_request SET hold_expires_at = now() WHERE id = $1";
        if (round % 3 === 0) await db.query(due, [id]);
        return await endHolds(db, signals, 10);
      };
      const calls = [
        () => refusalOf(release(id)),
        () => refusalOf(cancel(id)),
        expire,
        () => refusalOf(release(id)),
      ];
      await Promise.all([...calls.slice(round % 4), ...calls.slice(0, round % 4)].map((call) => call()));
      await endHolds(db, signals, 10);
      const row = (await readSignRequest(db, { id }))!;
      const operations = await db.query(
        "SELECT 1 FROM chain_operation WHERE subject_id = $1 AND kind = 'partial_sign'",
        [id],
      );
      const entries = await db.query("SELECT 1 FROM ledger_entry WHERE key = 'refund:' || $1", [id]);
      const isReleased = row.holdState === "released";
      expect([operations.length, entries.length]).toEqual(isReleased ? [1, 0] : [0, 1]);
      expect(row.status).toBe(isReleased ? "queued" : "failed");
      const { balance, differences } = await moneyOf(db, projectId);
      expect([balance, differences]).toEqual([before - (isReleased ? PRICE : HOLD_PRICE), []]);
    }
  });

  it("is not read until it is due, however many are held", async () => {
    const id = await steps.held(signer, dwallet);
    const undone = new Error("undone");
    const look = db.transaction(async (tx) => {
      // The copies share their presign.
      await tx.query("DROP INDEX sign_request_living_presign");
      await tx.query(
        `INSERT INTO sign_request SELECT c.* FROM sign_request r, generate_series(1, 2000) AS copy,
           jsonb_populate_record(r, jsonb_build_object('id', md5(r.id::text || copy)::uuid)) c WHERE r.id = $1`,
        [id],
      );
      await tx.query("ANALYZE sign_request, dwallet");
      const { text, values } = dueHolds(100);
      const reads = await explainReads(tx, { text, values });
      const halves = reads.filter(({ table, rows }) => table === "sign_request" && rows !== undefined);
      expect(halves.length).toBeGreaterThan(0);
      expect(Math.max(...halves.map(({ rows }) => rows!))).toBeLessThan(200);
      throw undone;
    });
    await expect(look).rejects.toBe(undone);
  });

  it("is released once by many callers, and all get it", async () => {
    const id = await steps.held(signer, dwallet);
    const rows = await Promise.all(Array.from({ length: 12 }, () => release(id)));
    expect(new Set(rows.map(({ holdState }) => holdState))).toEqual(new Set(["released"]));
    const audited = "SELECT 1 FROM audit_event WHERE subject = $1 AND action = 'sign.release'";
    expect(await db.query(audited, [id])).toHaveLength(1);
  });

  it("is one of at most as many as its dWallet may have, when two replicas each submit the last one", async () => {
    await readyPresigns(db, dwallet.bucket, HOLDS_OF_DWALLET_MAX_COUNT + 1);
    const ids: string[] = [];
    for (let count = 0; count <= HOLDS_OF_DWALLET_MAX_COUNT; count++)
      ids.push(await steps.reserve(signer, dwallet));
    for (const id of ids.splice(2)) await steps.submit(signer, id);
    // A process shares statements among the calls on one database object.
    const replicas = [steps, holdSteps({ ...db }, signals)];
    const { results } = await db.transaction(async (tx) => {
      // Both count the halves, or wait to count them, before one of them can add its own.
      await tx.query("LOCK TABLE audit_event IN SHARE MODE");
      const submitted = ids.map((id, index) => refusalOf(replicas[index]!.submit(signer, id)));
      const waiting =
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      await pollUntil(async () => (await db.query(waiting)).length === 2);
      return { results: Promise.all(submitted) };
    });
    expect((await results).sort()).toEqual(["TOO_MANY_RESERVATIONS", "not refused"]);
  });

  it.each([
    [
      "the revocation of its signer's key",
      (tx: Queryable) => tx.query("UPDATE api_key SET revoked_at = now() WHERE id = $1", [signer.apiKeyId]),
    ],
    [
      "the freeze of its user",
      (tx: Queryable) =>
        tx.query("UPDATE project_user SET frozen_at = now() WHERE project_id = $1 AND reference = 'alice'", [
          projectId,
        ]),
    ],
  ])("is not released after %s, also by a call that began before", async (_what, change) => {
    const id = await steps.held(signer, dwallet);
    const { outcome } = await db.transaction(async (tx) => {
      await change(tx);
      const [self] = await tx.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      let ended = false;
      const refusal = refusalOf(release(id)).finally(() => {
        ended = true;
      });
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid))";
      await pollUntil(async () => ended || (await db.query(waiting, [self!.pid])).length > 0);
      return { outcome: refusal };
    });
    expect(await outcome).toMatch(/^(WRONG_STATE|USER_FROZEN)$/);
    expect(await readSignRequest(db, { id })).toMatchObject({ status: "queued", holdState: "held" });
  });
});
