import { expect, it } from "vitest";
import { createLedgerGauges } from "../../../../../src/service/operator/metrics/shared-figures.ts";
import { newId, type Queryable } from "../../../../../src/service/platform/store/database.ts";
import { createMetrics } from "../../../../../src/service/platform/telemetry/metrics.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { recordAddress } from "../../../../support/database/deposit-rows.ts";
import { objectId, projectWith } from "../../../../support/database/rows.ts";
import { silentLog } from "../../../../support/silent-log.ts";

it("the ledger's differences are counted by kind, and logged", {
  timeout: DATABASE_TIMEOUT_MS,
}, async () => {
  const database = await openTestDatabase();
  const metrics = createMetrics();
  const told: object[] = [];
  const log = { ...silentLog, error: (fields: object) => void told.push(fields) };
  const verify = createLedgerGauges({ database, metrics, log });
  const text = async () => (await metrics.render()).body;
  const projectId = await projectWith(database, 100n);

  await verify();
  expect(await text()).toContain('service_ledger_differences{kind="balance"} 0');
  expect(told).toEqual([]);

  await database.query("UPDATE project SET balance_micro_usd = 99 WHERE id = $1", [projectId]);
  await verify();
  expect(await text()).toContain('service_ledger_differences{kind="balance"} 1');
  expect(await text()).toContain('service_ledger_differences{kind="charge"} 0');
  expect(told).toEqual([{ count: 1, some: [`balance ${projectId}`] }]);

  await database.query("UPDATE project SET balance_micro_usd = 100 WHERE id = $1", [projectId]);
  const depositId = await creditWithoutEntry(database, projectId);
  await verify();
  expect(await text()).toContain('service_ledger_differences{kind="balance"} 0');
  expect(await text()).toContain('service_ledger_differences{kind="deposit"} 1');
  expect(told.at(-1)).toEqual({ count: 1, some: [`deposit ${depositId}`] });
  const [, seconds] = /^service_ledger_verified_timestamp_seconds (\S+)$/m.exec(await text()) ?? [];
  expect(Date.now() / 1000 - Number(seconds)).toBeLessThan(60);

  metrics.close();
  await database.close();
});

/** Creates a deposit in the state credited without a ledger entry. Returns its id. */
async function creditWithoutEntry(db: Queryable, projectId: string): Promise<string> {
  const [id, address] = [newId(), objectId()];
  await recordAddress(db, { projectId, address });
  await db.query(
    `INSERT INTO deposit (id, project_id, network, address, tx_digest, coin_type, amount, state, price_pico_usd,
                          value_micro_usd, ledger_key, credited_at)
     VALUES ($1, $2, 'localnet', $3, 'digest', '0x2::sui::SUI', 1, 'credited', 1, 1, $4, now())`,
    [id, projectId, address, `deposit:localnet:digest:${address}:0x2::sui::SUI`],
  );
  return id;
}
