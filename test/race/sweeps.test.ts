/** Replicas that plan sweeps at the same time, on a real PostgreSQL. */
import { afterAll, describe, expect, it } from "vitest";
import { deriveDepositKey } from "../../src/service/billing/deposits/request-address.ts";
import { queueSweeps } from "../../src/service/billing/sweeps/queue-sweeps.ts";
import { createDepositSigner } from "../../src/service/billing/sweeps/sweep-signer.ts";
import { newId } from "../../src/service/platform/store/database.ts";
import { Secret } from "../../src/service/platform/telemetry/secret.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { recordAddress } from "../support/database/deposit-rows.ts";
import { objectId, projectWith } from "../support/database/rows.ts";
import { silentLog } from "../support/silent-log.ts";

const SEED = new Secret(new Uint8Array(32).fill(3));
const COIN_TYPES = ["0x2::sui::SUI", "0x5::ika::IKA"];
const COIN_COUNT = 40;
const database = await openRaceDatabase({ count: 8, because: "eight replicas plan at the same time" });
afterAll(() => database?.close());

describe.skipIf(database === undefined)("replicas that plan at once", () => {
  it("put each credited coin into one sweep, and no other coin", async () => {
    const db = database!;
    for (let index = 0; index < 4; index++) {
      const projectId = await projectWith(db, 0n);
      const address = deriveDepositKey(SEED, "localnet", { projectId, reference: "" }).toSuiAddress();
      await recordAddress(db, { projectId, address });
      for (const coinType of COIN_TYPES) {
        await deposit(projectId, address, coinType, "credited");
        await deposit(projectId, address, coinType, "waiting");
      }
    }
    const options = {
      database: db,
      network: "localnet",
      destination: objectId(),
      signerOf: createDepositSigner(SEED, "localnet"),
      minValueMicroUsd: 1n,
      maxCoinCount: 7,
      log: silentLog,
    };
    const counts = await Promise.all(Array.from({ length: 8 }, () => queueSweeps(options)));
    await queueSweeps(options);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    const left = await db.query<{ state: string; n: number }>(
      `SELECT d.state, count(*)::int AS n FROM deposit_coin c JOIN deposit d ON d.id = c.deposit_id
       WHERE c.sweep_id IS NULL GROUP BY d.state`,
    );
    expect(left).toEqual([{ state: "waiting", n: 4 * COIN_TYPES.length * COIN_COUNT }]);
    const wrong = await db.query(
      `SELECT s.id FROM sweep s LEFT JOIN deposit_coin c ON c.sweep_id = s.id
       GROUP BY s.id HAVING count(c.object_id) <> s.coin_count OR sum(c.amount) <> s.amount
         OR s.coin_count > 7 OR count(DISTINCT c.coin_type) <> 1
         OR (SELECT count(*) FROM chain_operation o WHERE o.kind = 'sweep' AND o.subject_id = s.id) <> 1`,
    );
    expect(wrong).toEqual([]);
  });

  async function deposit(
    projectId: string,
    address: string,
    coinType: string,
    state: "credited" | "waiting",
  ): Promise<void> {
    const id = newId();
    const credit = state === "credited" ? [1n, 4_000_000n, id] : [null, null, null];
    await database!.query(
      `INSERT INTO deposit (id, project_id, network, address, tx_digest, coin_type, amount, state, price_pico_usd,
                            value_micro_usd, ledger_key, credited_at)
       VALUES ($1::text::uuid, $2, 'localnet', $3, $1::text, $4, $5, $6, $7::bigint, $8::bigint, $9,
               CASE WHEN $6 = 'credited' THEN now() END)`,
      [id, projectId, address, coinType, COIN_COUNT, state, ...credit],
    );
    await database!.query(
      `INSERT INTO deposit_coin (network, object_id, version, digest, coin_type, amount, deposit_id)
       SELECT 'localnet', unnest($1::text[]), '1', 'd', $2, 1, $3`,
      [Array.from({ length: COIN_COUNT }, objectId), coinType, id],
    );
  }
});
