import { expect, it } from "vitest";
import { createLedgerGauges } from "../../../../src/app/observe/ledger-gauges.ts";
import { createMetrics } from "../../../../src/telemetry/metrics.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database.ts";
import { projectWith } from "../../../support/rows.ts";

it("the ledger's differences are counted by kind, and told of", {
  timeout: DATABASE_TIMEOUT_MS,
}, async () => {
  const database = await openTestDatabase();
  const metrics = createMetrics();
  const told: object[] = [];
  const log = { error: (fields: object) => void told.push(fields) };
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
  const [, seconds] = /^service_ledger_verified_timestamp_seconds (\S+)$/m.exec(await text()) ?? [];
  expect(Date.now() / 1000 - Number(seconds)).toBeLessThan(60);

  metrics.close();
  await database.close();
});
