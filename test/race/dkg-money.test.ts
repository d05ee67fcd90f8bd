/** The cost of dWallets under simultaneous calls, on a real PostgreSQL. */
import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import { createDkgOperation } from "../../src/service/onboarding/dkg-operation.ts";
import { failDWallet } from "../../src/service/onboarding/dwallet-session.ts";
import { failSignRequest } from "../../src/service/signing/sign-operation.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { dwalletOf, moneyOf, objectId, projectWith } from "../support/database/rows.ts";
import { onboardingCalls } from "../support/service/onboarding-calls.ts";
import { refusalOf } from "../support/service/service-client.ts";

const PRICE = 20_000n;
const REFUNDS_PER_DAY = 3;
const database = await openRaceDatabase({ count: 16, because: "16 of the calls run at the same time" });
afterAll(() => database?.close());

describe.skipIf(database === undefined)("a dWallet", () => {
  const db = database!;
  const calls = onboardingCalls(db, { dkgPriceMicroUsd: PRICE, refundsPerDay: REFUNDS_PER_DAY });

  it("is charged once, even if its request is repeated", async () => {
    const projectId = await projectWith(db, 2n * PRICE);
    const request = calls.dkgRequest(await calls.registeredKey(projectId));
    const rows = await Promise.all(Array.from({ length: 24 }, () => calls.createDWallet(projectId, request)));
    expect(new Set(rows.map(({ id }) => id)).size).toBe(1);
    expect(await moneyOf(db, projectId)).toEqual({ balance: PRICE, held: 0n, differences: [] });
    expect(await entriesOf(projectId)).toEqual([`dkg:${rows[0]!.id}`]);
  });

  it("is created as often as the credit allows, and a refused request stores nothing", async () => {
    const projectId = await projectWith(db, 3n * PRICE + PRICE - 1n);
    const key = await calls.registeredKey(projectId);
    const made = await Promise.all(
      Array.from({ length: 16 }, () => refusalOf(calls.createDWallet(projectId, calls.dkgRequest(key)))),
    );
    expect(made.filter((reason) => reason === "INSUFFICIENT_CREDIT")).toHaveLength(13);
    expect(made.filter((reason) => reason === "not refused")).toHaveLength(3);
    expect(await moneyOf(db, projectId)).toEqual({ balance: PRICE - 1n, held: 0n, differences: [] });
    expect(await dkgsOf(projectId)).toHaveLength(3);
  });

  it("is never paid with held money", async () => {
    const projectId = await projectWith(db, PRICE);
    await db.query("UPDATE project SET held_micro_usd = 1 WHERE id = $1", [projectId]);
    const request = calls.dkgRequest(await calls.registeredKey(projectId));
    expect(await refusalOf(calls.createDWallet(projectId, request))).toBe("INSUFFICIENT_CREDIT");
    expect(await dkgsOf(projectId)).toEqual([]);
    await db.query("UPDATE project SET held_micro_usd = 0 WHERE id = $1", [projectId]);
  });

  it.each(["userDkgMessage", "encryptedUserShareAndProof", "userPublicOutput"] as const)(
    "is not charged if its %s is malformed",
    async (part) => {
      const projectId = await projectWith(db, PRICE);
      const key = await calls.registeredKey(projectId);
      const junk = calls.dkgRequest(key, { [part]: new Uint8Array(randomBytes(1_381)) });
      expect(await refusalOf(calls.createDWallet(projectId, junk))).toBe("VALIDATION");
      expect(await moneyOf(db, projectId)).toEqual({ balance: PRICE, held: 0n, differences: [] });
    },
  );

  it("that the chain cannot accept is refunded once, outside the budget", async () => {
    const projectId = await projectWith(db, 5n * PRICE);
    const ids = await submitting(projectId, 5);
    const operation = createDkgOperation({ sessionRequest: async () => undefined }, objectId());
    const subjects = await operation.load(db, ids);
    const failure = { reason: "CHAIN_REJECTED", message: "no" };
    await Promise.all([...ids, ...ids, ...ids].map((id) => operation.failed(db, subjects.get(id)!, failure)));
    expect(await moneyOf(db, projectId)).toEqual({ balance: 5n * PRICE, held: 0n, differences: [] });
  });

  it("that the network rejects is refunded once, within the budget for signatures", async () => {
    const projectId = await projectWith(db, 5n * PRICE);
    const ids = await submitting(projectId, 5);
    const from = "AwaitingNetworkDKGVerification";
    await db.query("UPDATE dwallet SET state = $2 WHERE id = ANY($1::uuid[])", [ids, from]);
    const failure = { from, to: "NetworkRejectedDKGVerification", reason: "NETWORK_REJECTED" } as const;
    await Promise.all(
      [...ids, ...ids].map((id) => failDWallet(db, id, { ...failure, refundsPerDay: REFUNDS_PER_DAY })),
    );
    const refunded = BigInt(REFUNDS_PER_DAY) * PRICE;
    expect(await moneyOf(db, projectId)).toEqual({ balance: refunded, held: 0n, differences: [] });
    // The day's budget for signatures is used up.
    await failSignRequest(db, await chargedRequest(projectId), {
      from: "submitted",
      reason: "NETWORK_REJECTED",
      message: "no",
      refundsPerDay: REFUNDS_PER_DAY,
    });
    expect(await moneyOf(db, projectId)).toEqual({ balance: refunded - PRICE, held: 0n, differences: [] });
  });

  it("whose charge or refund differs from its row is reported by the verification of the ledger", async () => {
    const projectId = await projectWith(db, 2n * PRICE);
    const [first, second] = await submitting(projectId, 2);
    await db.query("UPDATE dwallet SET price_micro_usd = price_micro_usd - 1 WHERE id = $1", [first]);
    await db.query("UPDATE dwallet SET refunded = true WHERE id = $1", [second]);
    const { differences } = await moneyOf(db, projectId);
    expect(differences).toEqual([
      { kind: "charge", subject: first, expected: 1n - PRICE, actual: -PRICE },
      { kind: "refund", subject: second, expected: PRICE, actual: 0n },
    ]);
    await db.query("UPDATE dwallet SET price_micro_usd = $2, refunded = false WHERE project_id = $1", [
      ...[projectId, PRICE],
    ]);
  });

  /** Creates rows of charged dWallets whose DKGs are in progress. */
  async function submitting(projectId: string, count: number): Promise<string[]> {
    const key = await calls.registeredKey(projectId);
    const ids: string[] = [];
    for (let made = 0; made < count; made++) {
      ids.push((await calls.createDWallet(projectId, calls.dkgRequest(key))).id);
    }
    return ids;
  }

  /** Creates a charged sign request that the network has received. */
  async function chargedRequest(projectId: string): Promise<string> {
    const { rowId, bucket } = await dwalletOf(db, projectId);
    const [row] = await db.query<{ id: string }>(
      `WITH presign AS (
         INSERT INTO presign (id, network, curve, signature_algorithm, network_encryption_key_id, presign_id, presign, state)
         VALUES (gen_random_uuid(), 'localnet', 0, 0, $3, $4, '\\x00', 'used') RETURNING id
       ), request AS (
         INSERT INTO sign_request (id, project_id, dwallet_id, presign_id, network, curve, signature_algorithm,
                                   hash_scheme, message, user_sign_message, price_micro_usd, status, expires_at)
         SELECT gen_random_uuid(), $1, $2, id, 'localnet', 0, 0, 1, '\\x00', '\\x00', $5::bigint, 'submitted', now()
         FROM presign RETURNING id
       ), charged AS (UPDATE project SET balance_micro_usd = balance_micro_usd - $5 WHERE id = $1),
       entry AS (
         INSERT INTO ledger_entry (project_id, amount_micro_usd, kind, key, description)
         SELECT $1, -$5::bigint, 'sign', 'sign:' || id, 'Signature' FROM request
       ) SELECT id FROM request`,
      [projectId, rowId, bucket.networkEncryptionKeyId, objectId(), PRICE],
    );
    return row!.id;
  }

  async function entriesOf(projectId: string): Promise<string[]> {
    const rows = await db.query<{ key: string }>(
      "SELECT key FROM ledger_entry WHERE project_id = $1 AND kind <> 'credit'",
      [projectId],
    );
    return rows.map(({ key }) => key);
  }

  function dkgsOf(projectId: string): Promise<object[]> {
    return db.query(
      `SELECT 1 FROM dwallet d LEFT JOIN chain_operation o ON o.kind = 'dkg' AND o.subject_id = d.id
       WHERE d.project_id = $1`,
      [projectId],
    );
  }
});
