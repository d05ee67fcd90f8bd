/** `tss doctor` on a real PostgreSQL while others use it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Localnet, startLocalnet } from "../../src/localnet/localnet.ts";
import { addLane, markForeignUse } from "../../src/service/chain/submit/lane-table.ts";
import { runDoctor } from "../../src/service/operator/health/doctor/doctor.ts";
import { type Database, newId } from "../../src/service/platform/store/database.ts";
import { migrate } from "../../src/service/platform/store/migrate.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { silentLog } from "../support/silent-log.ts";
import { createCheapMpc } from "../unit/localnet/cheap-mpc.ts";

const postgres = await testDatabase();

describe.skipIf(postgres === undefined)("the doctor on PostgreSQL", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "doctor-"));
  let localnet: Localnet;
  let database: Database;
  let environment: Record<string, string>;

  beforeAll(async () => {
    localnet = await startLocalnet({ mpc: createCheapMpc() });
    database = await openTestPool(postgres?.url ?? "");
    const url = new URL(postgres?.url ?? "");
    url.password = "a-password-that-is-not-asked-for";
    environment = { DATA_DIR: folder, PORT: "0", LOCALNET_URL: localnet.url, DATABASE_URL: url.href };
  });
  afterAll(async () => {
    await database.close();
    await localnet.close();
    await postgres?.drop();
    rmSync(folder, { recursive: true });
  });

  const find = async (name: string) => {
    const findings = await runDoctor(environment);
    expect(JSON.stringify(findings)).not.toContain("a-password");
    return findings.find((one) => one.name === name);
  };

  it("reports that an empty database needs its migrations, and applies none", async () => {
    expect(await find("migrations")).toMatchObject({ status: "warn", found: "the database is empty" });
    expect(await find("chain")).toMatchObject({ status: "skip" });
    expect(await database.query("SELECT 1 FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
  });

  it("finds no fault in a migrated database", async () => {
    await migrate(database, silentLog);
    const findings = await runDoctor(environment);
    expect(findings.filter(({ status }) => status === "fail" || status === "warn")).toEqual([]);
    expect(findings.find(({ name }) => name === "database")?.found).toMatch(/^PostgreSQL \d+.* at 127.0.0.1/);
  });

  it("reports a missing, a newer, an edited and a failed migration", async () => {
    const rows = "_prisma_migrations WHERE migration_name =";
    const [last] = await database.query<{ name: string }>(
      "SELECT max(migration_name) AS name FROM _prisma_migrations",
    );
    const name = last?.name ?? "";
    await database.query("UPDATE _prisma_migrations SET checksum = 'x' WHERE migration_name = $1", [name]);
    expect((await find("migrations"))?.found).toBe(`edited after they were applied: ${name}`);
    await database.query("UPDATE _prisma_migrations SET migration_name = 'z' WHERE migration_name = $1", [
      name,
    ]);
    expect((await find("migrations"))?.found).toBe(`not yet applied: ${name}`);
    await database.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
       SELECT 'other', 'x', $1, now() FROM ${rows} 'z'`,
      [name],
    );
    expect((await find("migrations"))?.found).toBe("applied by a newer version: z");
    await database.query(`UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = 'z'`);
    expect(await find("migrations")).toMatchObject({ status: "fail", found: "migration z failed" });
  });

  it("reports a database that belongs to another chain", async () => {
    await database.query("INSERT INTO known_network (name, chain_id) VALUES ('localnet', 'another')");
    expect(await find("chain")).toMatchObject({ status: "fail", found: expect.stringContaining("another") });
  });

  it("reports a hot wallet that another process uses", async () => {
    await addLane(database, "localnet", { objectId: "0xlane", version: "1", digest: "d" });
    expect(await find("lanes")).toMatchObject({ status: "ok" });
    await markForeignUse(database, { laneId: "0xlane", digest: "foreign" });
    expect(await find("lanes")).toMatchObject({
      status: "fail",
      found: expect.stringMatching(/does not know who has used 0xlane by transaction foreign/),
      advice: expect.stringContaining("--after-restore"),
    });
  });

  it("reports an operation that no worker takes", async () => {
    expect(await find("outbox")).toMatchObject({ status: "ok" });
    await database.query(
      `INSERT INTO chain_operation (id, network, kind, subject_id, priority, not_before)
       VALUES ($1, 'localnet', 'sign', $2, 0, now() - interval '61 seconds')`,
      [newId(), newId()],
    );
    expect(await find("outbox")).toMatchObject({
      status: "fail",
      found: "an operation has waited for over a minute",
      advice: expect.stringContaining("PROCESS_TYPE worker or all"),
    });
  });

  it("reports a clock that differs from the database's", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
    try {
      expect(await find("clock and database")).toMatchObject({
        status: "fail",
        found: expect.stringMatching(/^(?:5|6)\d\.\d s apart$/),
      });
    } finally {
      vi.useRealTimers();
    }
  });
});
