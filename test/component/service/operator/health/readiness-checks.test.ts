import { GrpcTypes } from "@mysten/sui/grpc";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { encodeGrpcWebBody } from "../../../../../src/localnet/fullnode/wire/grpc-web.ts";
import { type Config, readConfig } from "../../../../../src/service/config/config.ts";
import { healthChecks } from "../../../../../src/service/operator/health/checks/health-checks.ts";
import { checkReadiness } from "../../../../../src/service/operator/health/readiness.ts";
import { runningSubject } from "../../../../../src/service/operator/health/running-subject.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { Secret } from "../../../../../src/service/platform/telemetry/secret.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { objectId } from "../../../../support/database/rows.ts";

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  await database.query("DELETE FROM chain_operation");
  await database.query("DELETE FROM lane");
});

/** A process that has everything it needs, except for the state of the database and the parts that a test breaks. */
async function readinessOf(
  processType: Config["processType"],
  broken: { fullnode?: boolean; redis?: boolean; chain?: boolean } = {},
  db: Database = database,
) {
  const answer = (isBroken = false) =>
    isBroken ? Promise.reject(new Error("secret://")) : Promise.resolve();
  const client = {
    core: {
      getChainIdentifier: async () => ({ chainIdentifier: "chain" }),
      getReferenceGasPrice: () => answer(broken.fullnode),
    },
  };
  const access = {
    name: "localnet",
    fullnodeUrl: new Secret("http://127.0.0.1:1"),
    async fetch() {
      const chainId = broken.chain ? "another" : "chain";
      const reply = GrpcTypes.GetServiceInfoResponse.toBinary(
        GrpcTypes.GetServiceInfoResponse.create({ chainId }),
      );
      const headers = { "content-type": "application/grpc-web+proto" };
      return new Response(new Uint8Array(encodeGrpcWebBody(reply, { code: 0, message: "" }, "binary")), {
        headers,
      });
    },
  };
  const { config } = readConfig({ PROCESS_TYPE: processType, REDIS_URL: "redis://:secret@redis" });
  const chain = {
    access: async () => access as never,
    client: async () => client as never,
    network: async () => ({ client }) as never,
  };
  const running = runningSubject({
    config,
    database: db,
    networks: config.networks.map((network) => ({ config: network, chain, isOpen: () => true })),
    coordination: { check: () => answer(broken.redis) },
  });
  const { status, checks } = await checkReadiness(healthChecks(running))();
  const failing = checks.flatMap((check) => (check.status === "failing" ? [check] : []));
  return { status, names: checks.map(({ name }) => name), failing };
}

const addLane = (foreignDigest: string | null) =>
  database.query(
    "INSERT INTO lane (id, network, version, digest, foreign_digest) VALUES ($1, 'localnet', '1', 'd', $2)",
    [objectId(), foreignDigest],
  );

const queueOperation = (ageSeconds: number) =>
  database.query(
    `INSERT INTO chain_operation (id, network, kind, subject_id, priority, not_before)
     VALUES ($1, 'localnet', 'sign', $2, 0, now() - $3 * interval '1 second')`,
    [newId(), newId(), ageSeconds],
  );

describe("the readiness of a process", () => {
  it("has the same checks for every process type", async () => {
    const names = ["database", "migrations", "fullnode", "outbox", "lanes", "redis"];
    for (const processType of ["api", "worker", "all"] as const) {
      expect(await readinessOf(processType)).toEqual({ status: "ready", names, failing: [] });
    }
  });

  it("does not depend on the fullnode or Redis, and names the remedy without a secret", async () => {
    const { status, failing } = await readinessOf("all", { fullnode: true, redis: true });
    expect(status).toBe("degraded");
    expect(failing.map(({ name }) => name)).toEqual(["fullnode", "redis"]);
    expect(failing[1]!.reason).toMatch(/Redis at REDIS_URL does not answer/);
    expect(JSON.stringify(failing)).not.toContain("secret");
  });

  it("shows that the only fullnode serves another chain than the one that its client has cached", async () => {
    const { status, failing } = await readinessOf("all", { chain: true });
    expect(status).toBe("degraded");
    expect(failing.map(({ name }) => name)).toEqual(["fullnode"]);
    expect(failing[0]!.reason).toMatch(/no fullnode of this chain answers/);
  });

  it("includes a worker, and shows an operation that no worker takes for over a minute", async () => {
    await queueOperation(30);
    expect((await readinessOf("api")).status).toBe("ready");
    await queueOperation(90);
    const { status, failing } = await readinessOf("api");
    expect([status, failing[0]!.name]).toEqual(["degraded", "outbox"]);
    expect(failing[0]!.reason).toContain("PROCESS_TYPE worker or all");
  });

  it("includes foreign use of the lanes", async () => {
    await addLane(null);
    for (const processType of ["api", "worker"] as const)
      expect((await readinessOf(processType)).status).toBe("ready");
    await addLane("another's");
    for (const processType of ["api", "worker"] as const) {
      const { status, failing } = await readinessOf(processType);
      expect([status, failing[0]!.name]).toEqual(["degraded", "lanes"]);
      expect(failing[0]!.reason).toContain("--after-restore");
    }
  });

  it("blames only the database during its outage, and advises no migration", async () => {
    const lost = { query: () => Promise.reject(new Error("connect ECONNREFUSED")) } as unknown as Database;
    const { status, failing } = await readinessOf("all", {}, lost);
    expect(status).toBe("unavailable");
    expect(failing.map(({ name, reason }) => [name, reason])).toEqual([
      ["database", expect.stringContaining("PostgreSQL at DATABASE_URL does not answer")],
      ...["migrations", "outbox", "lanes"].map((name) => [
        name,
        "not checked, because of the check database",
      ]),
    ]);
  });

  it("includes every migration of its version", async () => {
    const [last] = await database.query<{ id: string }>(
      "SELECT id FROM _prisma_migrations ORDER BY migration_name DESC LIMIT 1",
    );
    await database.query("UPDATE _prisma_migrations SET finished_at = NULL WHERE id = $1", [last!.id]);
    const { status, failing } = await readinessOf("api");
    expect([status, failing[0]!.name]).toEqual(["unavailable", "migrations"]);
    await database.query("UPDATE _prisma_migrations SET finished_at = now() WHERE id = $1", [last!.id]);
    expect((await readinessOf("api")).status).toBe("ready");
  });
});
