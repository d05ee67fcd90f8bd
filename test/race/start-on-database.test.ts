/** The whole service on a real PostgreSQL that belongs to another chain, or that has no free connection. */
import { afterAll, describe, expect, it } from "vitest";
import { generateApiKey } from "../../src/service/access/keys/api-key.ts";
import { loadConfig } from "../../src/service/config/config.ts";
import { openDatabase } from "../../src/service/platform/store/open-database.ts";
import { payPresigns, startHarness } from "../component/localnet/harness.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { openTestClient } from "../support/database/test-pool.ts";
import { environment } from "../support/environment.ts";
import { startAppInProcess } from "../support/service/app-in-process.ts";
import { silentLog } from "../support/silent-log.ts";

const test = await testDatabase();
const admin = test && (await openTestClient({ connectionString: environment.databaseUrl }));
const name = new URL(test?.url ?? "postgresql://x/x").pathname.slice(1);
const role = `${name}_service`;
afterAll(async () => {
  await test?.drop();
  await admin?.query(`DROP ROLE IF EXISTS ${role}`);
  await admin?.end();
});

describe.skipIf(test === undefined)("a service on a database", () => {
  it("asks callers to retry while its role has no connection left, and serves them afterwards", async () => {
    await admin!.query(`CREATE ROLE ${role} LOGIN`);
    await admin!.query(`ALTER DATABASE ${name} OWNER TO ${role}`);
    const url = new URL(test!.url);
    url.username = role;
    const service = await startAppInProcess({ DATABASE_URL: url.href, DATABASE_POOL_SIZE: "2" });
    try {
      const call = () =>
        fetch(`${service.url}/v1/billing/balance`, {
          headers: { authorization: `Bearer ${generateApiKey("localnet")}` },
        });
      expect((await call()).status).toBe(401);
      await admin!.query(`ALTER ROLE ${role} CONNECTION LIMIT 0`);
      await admin!.query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = $1", [
        role,
      ]);
      const refused = await call();
      expect(refused.status).toBe(503);
      expect(refused.headers.get("retry-after")).toBe("1");
      expect(await refused.json()).toMatchObject({ details: [{ reason: "DATABASE_UNAVAILABLE" }, {}] });
      await admin!.query(`ALTER ROLE ${role} CONNECTION LIMIT -1`);
      expect((await call()).status).toBe(401);
    } finally {
      await service.stop();
    }
  });

  it("opens at most DATABASE_POOL_SIZE connections", async () => {
    const { database: limits } = loadConfig({ DATABASE_URL: test!.url, DATABASE_POOL_SIZE: "2" });
    const database = await openDatabase({
      databaseUrl: test!.url,
      dataDirectory: "",
      log: silentLog,
      ...limits,
    });
    try {
      const own = () => database.query<{ pid: number }>("SELECT pg_backend_pid() AS pid", []);
      const rows = (await Promise.all(Array.from({ length: 20 }, own))).flat();
      expect(new Set(rows.map(({ pid }) => pid)).size).toBe(2);
    } finally {
      await database.close();
    }
  });

  it.each(["all", "worker", "api"])(
    "does not start with a fullnode of another chain than the database's, as process type %s",
    async (processType) => {
      const rows = "SELECT * FROM known_network";
      const owner = await openTestClient({ connectionString: test!.url });
      const { rows: known } = await owner.query<{ chain_id: string }>(rows);
      try {
        const settings = { DATABASE_URL: test!.url, DATABASE_POOL_SIZE: "2", PROCESS_TYPE: processType };
        await expect(startAppInProcess(settings)).rejects.toThrow(
          `the database belongs to another localnet: chain ${known[0]?.chain_id}, and the fullnode serves `,
        );
        expect((await owner.query(rows)).rows).toEqual(known);
      } finally {
        await owner.end();
      }
    },
  );

  it("names a database that is behind the chain, as an api process too, and stays up for callers", async () => {
    const behind = (await testDatabase())!;
    const harness = await startHarness();
    const settings = { DATABASE_URL: behind.url, DATABASE_POOL_SIZE: "2", LOCALNET_URL: harness.net.url };
    const ready = async (url: string) =>
      (await (await fetch(`${url}/v1/ready`)).json()) as {
        status: string;
        checks: { name: string; reason?: string }[];
      };
    try {
      const worker = await startAppInProcess({ ...settings, PROCESS_TYPE: "worker" });
      expect((await ready(worker.url)).status).toBe("ready");
      await worker.stop();
      await harness.run((tx) => payPresigns(harness, tx));
      const api = await startAppInProcess({ ...settings, PROCESS_TYPE: "api" });
      const { status, checks } = await ready(api.url);
      await api.stop();
      expect([status, checks.filter(({ reason }) => reason !== undefined).map(({ name }) => name)]).toEqual([
        ...["degraded", ["lanes"]],
      ]);
      expect(checks.find(({ name }) => name === "lanes")?.reason).toContain("tss reconcile");
    } finally {
      await harness.close();
      await behind.drop();
    }
  });
});
