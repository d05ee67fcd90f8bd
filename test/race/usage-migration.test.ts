/** A ledger of an older version, whose users' usage the migrations add up, on a real PostgreSQL. */
import { afterAll, describe, expect, it } from "vitest";
import { newId } from "../../src/service/platform/store/database.ts";
import { migrate, readMigrations } from "../../src/service/platform/store/migrate.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { dwalletOf, objectId, projectWith, type TestDWalletRow } from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { silentLog } from "../support/silent-log.ts";

const AMOUNTS = { dkg: -25, dkg_refund: 25, refund: 10, sign: -10 };
const OLD = "2026-03-01T10:59:59.999Z";
const test = await testDatabase();
const database = test && (await openTestPool(test.url));
afterAll(async () => {
  await database?.close();
  await test?.drop();
});

describe.skipIf(database === undefined)("the migration of a ledger", () => {
  const db = database!;

  it("adds up each entry of a user once, whenever it is written, and nothing else", async () => {
    await migrateTo("_sessions_of_identity_providers");
    const projectId = await projectWith(db, 100_000n);
    const now = new Date().toISOString();
    await book(projectId, OLD);
    await book(projectId, now);
    await migrateTo("_usage_by_user");
    await book(projectId, OLD);
    await book(projectId, now);
    await migrate(db, silentLog);
    await book(projectId, now);
    const usage = await db.query(
      `SELECT user_reference AS user, hour, kind, entry_count::int AS count, amount_micro_usd::int AS amount
       FROM ledger_user_hour ORDER BY hour, kind`,
    );
    const hour = (time: string, count: number) =>
      Object.entries(AMOUNTS).map(([kind, amount]) => ({
        ...{ user: "alice", hour: new Date(`${time.slice(0, 13)}:00:00Z`) },
        ...{ kind, count, amount: count * amount },
      }));
    expect(usage).toEqual([...hour(OLD, 2), ...hour(now, 3)]);
    expect(await db.query("SELECT to_regclass('ledger_user_hour_start')::text AS start")).toEqual([
      { start: null },
    ]);
  });

  /** Applies the migrations up to the one with this name. */
  async function migrateTo(name: string): Promise<void> {
    const migrations = await readMigrations();
    const at = migrations.findIndex((migration) => migration.name.endsWith(name));
    await migrate(db, silentLog, { migrations: migrations.slice(0, at + 1) });
  }

  // In plain SQL, because the program's own statements need the tables of its version.
  async function signRequestOf(projectId: string, { rowId, bucket }: TestDWalletRow): Promise<string> {
    const [row] = await db.query<{ id: string }>(
      `WITH presign AS (
         INSERT INTO presign (id, network, curve, signature_algorithm, network_encryption_key_id, presign_id, presign, state)
         VALUES (gen_random_uuid(), 'localnet', 0, 0, $3, $4, '\\x00', 'used') RETURNING id
       ) INSERT INTO sign_request (id, project_id, dwallet_id, presign_id, network, curve, signature_algorithm,
                                   hash_scheme, message, user_sign_message, price_micro_usd, status, expires_at)
         SELECT gen_random_uuid(), $1, $2, id, 'localnet', 0, 0, 1, '\\x00', '\\x00', 10, 'submitted', now()
         FROM presign RETURNING id`,
      [projectId, rowId, bucket.networkEncryptionKeyId, objectId()],
    );
    return row!.id;
  }

  /** Books one entry of each kind for alice, one for no user, and some about no request or dWallet. */
  async function book(projectId: string, at: string): Promise<void> {
    for (const user of ["alice", null]) {
      const dwallet = await dwalletOf(db, projectId);
      if (user !== null)
        await db.query(
          "INSERT INTO project_user (project_id, reference) VALUES ($1, $2) ON CONFLICT DO NOTHING",
          [projectId, user],
        );
      await db.query("UPDATE dwallet SET user_reference = $2 WHERE id = $1", [dwallet.rowId, user]);
      const signRequestId = await signRequestOf(projectId, dwallet);
      for (const [kind, amount] of Object.entries(AMOUNTS)) {
        const subject = kind.startsWith("dkg") ? dwallet.rowId : signRequestId;
        await insert({ kind, amount, key: `${kind}:${subject}` });
      }
      for (const key of [newId(), `sign:${newId()}`, `sign:${signRequestId}:more`, `more:${signRequestId}`])
        await insert({ kind: "sign", amount: -7, key });
    }

    function insert({ kind, amount, key }: { kind: string; amount: number; key: string }) {
      return db.query(
        `INSERT INTO ledger_entry (project_id, kind, amount_micro_usd, key, description, created_at)
         VALUES ($1, $2, $3, $4, 'test', $5)`,
        [projectId, kind, amount, key, at],
      );
    }
  }
});
