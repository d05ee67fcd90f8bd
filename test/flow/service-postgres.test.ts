/**
 * The service on a PostgreSQL server and Redis, as it runs in production, with a project from the command line. If
 * pgbouncer is installed, the service reaches PostgreSQL through it, and only this test connects directly.
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createInlineEngine } from "../../src/client/crypto/engines/inline-engine.ts";
import { findTriple } from "../../src/protocol/algorithms.ts";
import { verifyLedger } from "../../src/service/ledger/verify-ledger.ts";
import { printed, runCli } from "../component/cli/run-cli.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { startPgbouncer } from "../support/database/pgbouncer.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { testRedis } from "../support/database/redis.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { pollUntil } from "../support/poll-until.ts";
import { grpcJsClient } from "../support/service/protocol-clients.ts";
import { type ServiceProcess, serviceFolder, startService } from "../support/service/service.ts";
import { sharedService } from "../support/service/shared-service.ts";
import { fromBase64, onboardOver, reserveOver, signEnd, submitOver } from "../support/service/user.ts";

const triple = findTriple("ED25519", "EdDSA", "SHA512")!;
const postgres = await testDatabase();
const pgbouncer = postgres && (await startPgbouncer(postgres.url, 12));
const redisUrl = await testRedis();
const { folder, remove } = serviceFolder();
let service: ServiceProcess | undefined;
let apiKey = "";
/** The completed sign request. */
let signed: Awaited<ReturnType<typeof signEnd>> | undefined;

describe.skipIf(!postgres || !redisUrl)("a service on PostgreSQL and Redis", () => {
  const environment = {
    DATABASE_URL: (pgbouncer ?? postgres)?.url ?? "",
    REDIS_URL: redisUrl ?? "",
    PRESIGN_BUCKETS: "ED25519/EdDSA",
  };

  beforeAll(async () => {
    const argv = ["project", "create", "--name", "acme", "--credit-usd", "1", "--json"];
    const created = await printed(argv, { DATA_DIR: folder, ...environment });
    ({ apiKey } = JSON.parse(created) as { apiKey: string });
    service = await startService(folder, environment);
  });

  afterAll(async () => {
    await service?.stop();
    await pgbouncer?.stop();
    await postgres?.drop();
    remove();
  });

  it("signs, and its ledger adds up", { timeout: 600_000 }, async () => {
    const { baseUrl } = service!.access;
    const engine = createInlineEngine();
    const steps = { engine, parameters: await (await sharedService()).parameters("ED25519"), triple };
    const client = grpcJsClient(baseUrl, apiKey);
    const dwallet = await onboardOver(client, steps, new Uint8Array(randomBytes(32)));
    const message = new Uint8Array(randomBytes(32));
    const reserved = await reserveOver(client, triple, dwallet, message);
    await submitOver(client, steps, dwallet, reserved, message);
    const done = await signEnd(client, reserved["signRequestId"]!);
    client.close();
    await engine.close();
    const signature = fromBase64(done["signature"]);
    expect(isValidSignature({ ...triple, publicKey: dwallet.publicKey, message, signature })).toBe(true);
    signed = done;
    expect(service!.log.filter((line) => /"level":"(?:error|fatal)"|prepared statement/.test(line))).toEqual(
      [],
    );

    const database = await openTestPool(postgres!.url);
    try {
      expect(await verifyLedger(database)).toEqual([]);
      const [project] = await database.query<{ balance: bigint; held: bigint }>(
        "SELECT balance_micro_usd AS balance, held_micro_usd AS held FROM project",
      );
      // One dWallet costs $0.02, one signature $0.01.
      expect(project).toEqual({ balance: 970_000n, held: 0n });
    } finally {
      await database.close();
    }
  });

  it("lets an operator verify the ledger while it runs", { timeout: 600_000 }, async () => {
    const verify = async () => {
      const { exitCode, out } = await runCli(["ledger", "verify", "--json"], {
        DATA_DIR: folder,
        ...environment,
      });
      return { exitCode, differences: JSON.parse(out) as unknown[] };
    };
    expect(await verify()).toEqual({ exitCode: 0, differences: [] });

    const database = await openTestPool(postgres!.url);
    const [project] = await database.query<{ id: string }>(
      "UPDATE project SET balance_micro_usd = balance_micro_usd + 5 RETURNING id",
      [],
    );
    await database.close();
    expect(await verify()).toEqual({
      exitCode: 1,
      differences: [{ kind: "balance", subject: project!.id, expected: "970000", actual: "970005" }],
    });
  });

  it("catches up with the chain when the database is an older copy", { timeout: 600_000 }, async () => {
    expect(await service!.stop()).toBe(0);
    const database = await openTestPool(postgres!.url);
    // Restores the state after the signature, the dWallet and its presign were requested and before anything was sent.
    await database.query("UPDATE project SET balance_micro_usd = balance_micro_usd - 5", []);
    await database.query(
      `UPDATE sign_request SET status = 'queued', signature = NULL, sign_session_id = NULL, tx_digest = NULL
       WHERE id = $1`,
      [signed!["signRequestId"]],
    );
    await database.query(
      `UPDATE presign SET state = 'held' WHERE id IN (SELECT presign_id FROM sign_request WHERE id = $1)`,
      [signed!["signRequestId"]],
    );
    await database.query(
      `UPDATE presign SET state = 'requested', presign_id = NULL, presign = NULL, tx_digest = NULL
       WHERE state IN ('pending', 'ready')`,
      [],
    );
    await database.query(
      `UPDATE chain_operation SET state = 'queued', tx_digest = NULL
       WHERE kind = 'sign' OR subject_id IN (SELECT id FROM presign WHERE state = 'requested')`,
      [],
    );
    const [before] = await database.query<{ ids: string[] }>(
      "SELECT array_agg(id::text ORDER BY id) AS ids FROM presign WHERE state = 'requested'",
      [],
    );
    expect(before!.ids.length).toBeGreaterThan(0);
    // The copy knows none of the transactions sent since, and has the lanes in their initial state.
    await database.query("UPDATE chain_operation SET tx_digest = NULL", []);
    await database.query("DELETE FROM chain_transaction", []);
    await database.query("UPDATE lane SET version = '1'", []);
    await database.query("UPDATE gas_coin SET version = '1'", []);
    await database.close();

    service = await startService(folder, environment);
    const alarm = await service.logged("another sender uses the hot wallet");
    expect(alarm).toContain("--after-restore");
    expect(await service.stop()).toBe(0);

    service = await startService(folder, environment, ["--after-restore"]);
    const client = grpcJsClient(service.access.baseUrl, apiKey);
    const again = await signEnd(client, signed!["signRequestId"]!);
    // The copy learns of the transaction anew.
    const { updateTime, sendTime, landTime } = signed!;
    expect({ ...again, updateTime, sendTime, landTime }).toEqual(signed);
    client.close();
    const after = await openTestPool(postgres!.url);
    try {
      await pollUntil(async () => {
        const rows = await after.query(
          "SELECT 1 FROM presign WHERE state = 'ready' AND id = ANY($1::uuid[])",
          [before!.ids],
        );
        return rows.length === before!.ids.length;
      });
      expect(await verifyLedger(after)).toEqual([]);
    } finally {
      await after.close();
    }
  });

  it("stops with exit code 0", async () => {
    expect(await service!.stop()).toBe(0);
  });
});
