/** What the recomputation of the ledger finds, among the requests of two projects. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readVerification, storeVerification } from "../../../../src/service/ledger/last-verification.ts";
import { verifyLedger } from "../../../../src/service/ledger/verify-ledger.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { type Database, newId, type Queryable } from "../../../../src/service/platform/store/database.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { recordAddress } from "../../../support/database/deposit-rows.ts";
import { dwalletOf, objectId, projectWith, readyPresigns } from "../../../support/database/rows.ts";

interface Subjects {
  readonly projectId: string;
  readonly paidWallet: string;
  readonly refundedWallet: string;
  readonly prepared: string;
  readonly submitted: string;
  readonly refunded: string;
  readonly expired: string;
  readonly deposit: string;
  readonly depositKey: string;
}

let database: Database;
let first: Subjects;
let second: Subjects;
beforeAll(async () => {
  database = await openTestDatabase();
  first = await fill();
  second = await fill();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

describe("the recomputation of two projects with requests in every state", () => {
  it("finds nothing while all is right", async () => {
    expect(await verifyLedger(database)).toEqual([]);
  });

  it("expects no charge of what is only reserved, and no refund of what did not fail", async () => {
    const found = await changed(async (db) => {
      await db.query("UPDATE sign_request SET user_sign_message = '' WHERE id = $1", [first.prepared]);
      await db.query("UPDATE sign_request SET refunded = true WHERE id = $1", [second.submitted]);
    });
    expect(found).toEqual([]);
  });

  it("names each request whose charge or refund differs, in order", async () => {
    const found = await changed(async (db) => {
      await db.query("UPDATE sign_request SET price_micro_usd = 11 WHERE id = $1", [first.submitted]);
      await db.query("UPDATE sign_request SET refunded = false WHERE id = $1", [first.refunded]);
      await db.query("UPDATE dwallet SET price_micro_usd = 51 WHERE id = $1", [second.paidWallet]);
      await db.query("UPDATE dwallet SET refunded = false WHERE id = $1", [second.refundedWallet]);
    });
    expect(found).toEqual([
      ...bySubject([
        { kind: "charge", subject: first.submitted, expected: -11n, actual: -10n },
        { kind: "charge", subject: second.paidWallet, expected: -51n, actual: -50n },
      ]),
      ...bySubject([
        { kind: "refund", subject: first.refunded, expected: 0n, actual: 10n },
        { kind: "refund", subject: second.refundedWallet, expected: 0n, actual: 50n },
      ]),
    ]);
  });

  it("names a held amount and a number of reservations of one project", async () => {
    const found = await changed((db) =>
      db.query("UPDATE sign_request SET price_micro_usd = 12 WHERE id = $1", [second.prepared]),
    );
    expect(found).toEqual([{ kind: "held", subject: second.projectId, expected: 12n, actual: 10n }]);
    const more = await changed((db) =>
      db.query("UPDATE project SET open_reservations = 4 WHERE id = $1", [first.projectId]),
    );
    expect(more).toEqual([{ kind: "reservations", subject: first.projectId, expected: 1n, actual: 4n }]);
  });

  it("takes no entry of another project for the request's own", async () => {
    const found = await changed(async (db) => {
      await db.query("UPDATE sign_request SET project_id = $1 WHERE id = $2", [
        second.projectId,
        first.refunded,
      ]);
    });
    expect(found).toEqual([
      { kind: "charge", subject: first.refunded, expected: -10n, actual: 0n },
      { kind: "orphan", subject: `refund:${first.refunded}`, expected: 0n, actual: 10n },
      { kind: "orphan", subject: `sign:${first.refunded}`, expected: 0n, actual: -10n },
      { kind: "refund", subject: first.refunded, expected: 10n, actual: 0n },
    ]);
  });

  it("names an entry of a kind that its subject has not", async () => {
    const key = `dkg:${first.submitted}`;
    const found = await changed((db) => book(db, first.projectId, "dkg", key, -3n));
    expect(found).toEqual([{ kind: "orphan", subject: key, expected: 0n, actual: -3n }]);
  });

  it("names a deposit whose entry differs, and one whose entry another project has", async () => {
    const differs = await changed((db) =>
      db.query("UPDATE deposit SET value_micro_usd = 31 WHERE id = $1", [first.deposit]),
    );
    expect(differs).toEqual([{ kind: "deposit", subject: first.deposit, expected: 31n, actual: 30n }]);
    const moved = await changed((db) =>
      db.query("UPDATE deposit SET project_id = $1 WHERE id = $2", [first.projectId, second.deposit]),
    );
    expect(moved).toEqual([
      { kind: "deposit", subject: second.deposit, expected: 30n, actual: 0n },
      { kind: "orphan", subject: second.depositKey, expected: 0n, actual: 30n },
    ]);
  });
});

describe("the stored result", () => {
  it("is that of the last verification, with its time, the count and the first 20 differences", async () => {
    expect(await readVerification(database)).toBeUndefined();
    const differences = Array.from({ length: 25 }, (_, index) => ({
      ...({ kind: "charge", subject: String(index), expected: 2n ** 60n, actual: -1n } as const),
    }));
    await storeVerification(database, differences);
    await database.query("UPDATE ledger_verification SET verified_at = verified_at - interval '1 day'", []);
    const first = await readVerification(database);
    expect(first).toMatchObject({ differenceCount: 25, differences: differences.slice(0, 20) });
    await storeVerification(database, []);
    const last = await readVerification(database);
    expect(last).toMatchObject({ differenceCount: 0, differences: [] });
    expect(last!.verifiedAt > first!.verifiedAt).toBe(true);
  });
});

const bySubject = <T extends { readonly subject: string }>(found: T[]): T[] =>
  found.sort((a, b) => (a.subject < b.subject ? -1 : 1));

/** Returns what the recomputation finds after a change, which is then undone. */
async function changed(change: (db: Queryable) => Promise<unknown>) {
  let found: Awaited<ReturnType<typeof verifyLedger>> = [];
  const undo = new Error("undo");
  await database
    .transaction(async (db) => {
      await change(db);
      found = await verifyLedger(db);
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return found;
}

/** Books an entry, and the balance with it. */
async function book(db: Queryable, projectId: string, kind: string, key: string, amount: bigint) {
  await db.query(
    `INSERT INTO ledger_entry (project_id, amount_micro_usd, kind, key, description) VALUES ($1, $2, $3, $4, '')`,
    [projectId, amount, kind, key],
  );
  await db.query("UPDATE project SET balance_micro_usd = balance_micro_usd + $2 WHERE id = $1", [
    projectId,
    amount,
  ]);
}

/** A project with a request in every state that the ledger distinguishes. */
async function fill(): Promise<Subjects> {
  const projectId = await projectWith(database, 1_000n);
  const paid = await dwalletOf(database, projectId);
  const refundedWallet = await dwalletOf(database, projectId, { state: "Failed" });
  for (const { rowId } of [paid, refundedWallet]) {
    await database.query("UPDATE dwallet SET price_micro_usd = 50 WHERE id = $1", [rowId]);
    await book(database, projectId, "dkg", `dkg:${rowId}`, -50n);
  }
  await database.query("UPDATE dwallet SET refunded = true WHERE id = $1", [refundedWallet.rowId]);
  await book(database, projectId, "dkg_refund", `dkg_refund:${refundedWallet.rowId}`, 50n);

  await readyPresigns(database, paid.bucket, 4);
  const signing = signSteps(database, createLocalSignals());
  const reserve = () => signing.reserve(projectId, paid);
  const [prepared, submitted, refunded, expired] = [
    await reserve(),
    await reserve(),
    await reserve(),
    await reserve(),
  ];
  await signing.submit(projectId, submitted);
  await signing.submit(projectId, refunded);
  await database.query(
    "UPDATE sign_request SET status = 'failed', failure_reason = 'x', refunded = true WHERE id = $1",
    [refunded],
  );
  await book(database, projectId, "refund", `refund:${refunded}`, 10n);
  await signing.expire(expired);

  const [deposit, address, digest] = [newId(), objectId(), objectId()];
  const depositKey = `deposit:localnet:${digest}:${address}:0x2::sui::SUI`;
  await recordAddress(database, { projectId, address });
  await database.query(
    `INSERT INTO deposit (id, project_id, network, address, tx_digest, coin_type, amount, state, price_pico_usd,
                          value_micro_usd, ledger_key, credited_at)
     VALUES ($1, $2, 'localnet', $3, $4, '0x2::sui::SUI', 1, 'credited', 1, 30, $5, now())`,
    [deposit, projectId, address, digest, depositKey],
  );
  await database.query(
    `INSERT INTO deposit (id, project_id, network, address, tx_digest, coin_type, amount)
     VALUES ($1, $2, 'localnet', $3, $4, '0x2::sui::SUI', 1)`,
    [newId(), projectId, address, objectId()],
  );
  await book(database, projectId, "deposit", depositKey, 30n);
  return {
    projectId,
    paidWallet: paid.rowId,
    refundedWallet: refundedWallet.rowId,
    prepared,
    submitted,
    refunded,
    expired,
    deposit,
    depositKey,
  };
}
