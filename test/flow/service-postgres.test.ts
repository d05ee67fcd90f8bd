/** The service on a PostgreSQL server and Redis, as it runs in production, with a project from the command line. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyLedger } from "../../src/billing/verify-ledger.ts";
import { createInlineEngine } from "../../src/crypto/inline-engine.ts";
import { findTriple } from "../../src/protocol/algorithms.ts";
import { openDatabase } from "../../src/store/open-database.ts";
import { grpcJsFace } from "../support/faces.ts";
import { judge } from "../support/judges.ts";
import { testDatabase } from "../support/postgres.ts";
import { testRedis } from "../support/redis.ts";
import { runTss, type ServiceProcess, serviceFolder, startService } from "../support/service.ts";
import {
  downloadParameters,
  fromBase64,
  onboardOver,
  reserveOver,
  signEnd,
  submitOver,
} from "../support/user.ts";

const triple = findTriple("ED25519", "EdDSA", "SHA512")!;
const postgres = await testDatabase();
const redisUrl = await testRedis();
const { folder, remove } = serviceFolder();
let service: ServiceProcess | undefined;
let apiKey = "";

describe.skipIf(!postgres || !redisUrl)("a service on PostgreSQL and Redis", () => {
  const environment = {
    DATABASE_URL: postgres?.url ?? "",
    REDIS_URL: redisUrl ?? "",
    PRESIGN_BUCKETS: "ED25519/EdDSA",
  };

  beforeAll(async () => {
    const argv = ["project", "create", "--name", "acme", "--credit-usd", "1", "--json"];
    const created = runTss(argv, { DATA_DIR: folder, ...environment });
    ({ apiKey } = JSON.parse(await text(created.stdout!)) as { apiKey: string });
    service = await startService(folder, environment);
  }, 120_000);

  afterAll(async () => {
    await service?.stop();
    await postgres?.drop();
    remove();
  }, 60_000);

  it("signs, and its ledger adds up", { timeout: 120_000 }, async () => {
    const { baseUrl } = service!.access;
    const engine = createInlineEngine();
    const steps = { engine, parameters: await downloadParameters(baseUrl, "ED25519"), triple };
    const face = grpcJsFace(baseUrl, apiKey);
    const dwallet = await onboardOver(face, steps, new Uint8Array(randomBytes(32)));
    const message = new Uint8Array(randomBytes(32));
    const reserved = await reserveOver(face, triple, dwallet, message);
    await submitOver(face, steps, dwallet, reserved, message);
    const done = await signEnd(face, reserved["signRequestId"]!);
    face.close();
    await engine.close();
    const signature = fromBase64(done["signature"]);
    expect(judge({ ...triple, publicKey: dwallet.publicKey, message, signature })).toBe(true);

    const log = { info: () => {}, warn: () => {}, error: () => {} };
    const database = await openDatabase({ databaseUrl: postgres!.url, dataDirectory: folder, log });
    try {
      expect(await verifyLedger(database)).toEqual([]);
      const [project] = await database.query<{ balance: bigint; held: bigint }>(
        "SELECT balance_micro_usd AS balance, held_micro_usd AS held FROM project",
      );
      expect(project).toEqual({ balance: 990_000n, held: 0n });
    } finally {
      await database.close();
    }
  });

  it("lets an operator recompute the ledger beside it", { timeout: 60_000 }, async () => {
    const verify = async () => {
      const verified = runTss(["ledger", "verify", "--json"], { DATA_DIR: folder, ...environment });
      const [output, [exitCode]] = await Promise.all([text(verified.stdout!), once(verified, "exit")]);
      return { exitCode: exitCode as number, differences: JSON.parse(output) as unknown[] };
    };
    expect(await verify()).toEqual({ exitCode: 0, differences: [] });

    const log = { info: () => {}, warn: () => {}, error: () => {} };
    const database = await openDatabase({ databaseUrl: postgres!.url, dataDirectory: folder, log });
    const [project] = await database.query<{ id: string }>(
      "UPDATE project SET balance_micro_usd = balance_micro_usd + 5 RETURNING id",
      [],
    );
    await database.close();
    expect(await verify()).toEqual({
      exitCode: 1,
      differences: [{ kind: "balance", subject: project!.id, expected: "990000", actual: "990005" }],
    });
  });

  it("stops with exit code 0", async () => {
    expect(await service!.stop()).toBe(0);
  });
});
