import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { creditProject } from "../../../../src/service/ledger/credit-project.ts";
import { verifyLedger } from "../../../../src/service/ledger/verify-ledger.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { isUniqueViolation } from "../../../../src/service/platform/store/sql-errors.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { moneyOf, projectWith, TEST_ORIGIN } from "../../../support/database/rows.ts";

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

const credit = (projectId: string, amountMicroUsd: bigint, reference: string) =>
  creditProject(database, TEST_ORIGIN, { projectId, amountMicroUsd, reference, description: "test" });

describe("credit", () => {
  it("is booked with its ledger entry and its audit event", async () => {
    const projectId = await projectWith(database, 0n);
    expect(await credit(projectId, 100n, `${projectId}-a`)).toBe(true);
    expect(await credit(projectId, -40n, `${projectId}-b`)).toBe(true);
    expect(await moneyOf(database, projectId)).toEqual({ balance: 60n, held: 0n, differences: [] });
    const events = await database.query(
      "SELECT 1 FROM audit_event WHERE project_id = $1 AND action = 'project.credit'",
      [projectId],
    );
    expect(events).toHaveLength(2);
  });

  it("is booked once for each reference", async () => {
    const projectId = await projectWith(database, 0n);
    await credit(projectId, 100n, `${projectId}-a`);
    const again = await credit(projectId, 100n, `${projectId}-a`).catch((error: unknown) => error);
    expect(isUniqueViolation(again, "ledger_entry_key_key")).toBe(true);
    expect(await moneyOf(database, projectId)).toEqual({ balance: 100n, held: 0n, differences: [] });
  });

  it("never takes the held amount", async () => {
    const projectId = await projectWith(database, 100n);
    await database.query("UPDATE project SET held_micro_usd = 60 WHERE id = $1", [projectId]);
    expect(await credit(projectId, -41n, `${projectId}-a`)).toBe(false);
    expect(await credit(projectId, -40n, `${projectId}-b`)).toBe(true);
    await database.query("UPDATE project SET held_micro_usd = 0 WHERE id = $1", [projectId]);
    expect(await moneyOf(database, projectId)).toEqual({ balance: 60n, held: 0n, differences: [] });
  });

  it("is not booked for a project that does not exist", async () => {
    expect(await credit("00000000-0000-7000-8000-000000000000", 1n, "nobody")).toBe(false);
  });
});

describe("the recomputation", () => {
  it("names a balance and a held amount that do not add up", async () => {
    const projectId = await projectWith(database, 100n);
    const set = (balance: bigint, held: bigint) =>
      database.query("UPDATE project SET balance_micro_usd = $2, held_micro_usd = $3 WHERE id = $1", [
        projectId,
        balance,
        held,
      ]);
    await set(99n, 7n);
    expect(await verifyLedger(database)).toEqual([
      { kind: "balance", subject: projectId, expected: 100n, actual: 99n },
      { kind: "held", subject: projectId, expected: 0n, actual: 7n },
    ]);
    await set(100n, 0n);
    expect(await verifyLedger(database)).toEqual([]);
  });

  it("names an entry whose sign request does not exist", async () => {
    const projectId = await projectWith(database, 100n);
    await database.query(
      `INSERT INTO ledger_entry (project_id, amount_micro_usd, kind, key, description)
       VALUES ($1, -10, 'sign', 'sign:nothing', '')`,
      [projectId],
    );
    await database.query("UPDATE project SET balance_micro_usd = 90 WHERE id = $1", [projectId]);
    expect(await verifyLedger(database)).toEqual([
      { kind: "orphan", subject: "sign:nothing", expected: 0n, actual: -10n },
    ]);
  });
});
