/** A replica that stops while clients sign through a balancer that chooses it for all of them. */
import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import path from "node:path";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient, type OnboardResult, type TssClient } from "../../src/client/sdk/index.ts";
import { findTriple } from "../../src/protocol/algorithms.ts";
import { SCOPES } from "../../src/service/access/caller.ts";
import { insertApiKey } from "../../src/service/access/keys/api-keys.ts";
import type { Database } from "../../src/service/platform/store/database.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { testRedis } from "../support/database/redis.ts";
import { projectWith, TEST_ORIGIN } from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { pollUntil } from "../support/poll-until.ts";
import { type PinningBalancer, startPinningBalancer } from "../support/service/pinning-balancer.ts";
import {
  type LocalnetProcess,
  type ServiceProcess,
  serviceFolder,
  startLocalnetProcess,
  startService,
} from "../support/service/service.ts";

const triple = findTriple("ED25519", "EdDSA", "SHA512")!;
const algorithm = { curve: "ED25519", signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } as const;
/** More than the attempts for a service that has never answered. */
const FAILURES_MAX = 7;
const NO_REPLICA = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
/** The transports of the clients, and what their balancer answers while no replica accepts a connection. */
const CLIENTS = {
  "Connect over fetch": { transport: () => undefined, answer: "" },
  "Connect over fetch, before a balancer that answers 503": {
    transport: () => undefined,
    answer: NO_REPLICA,
  },
  "Connect over HTTP/2": {
    transport: (baseUrl: string) => createConnectTransport({ baseUrl, httpVersion: "2" }),
    answer: "",
  },
  gRPC: { transport: (baseUrl: string) => createGrpcTransport({ baseUrl }), answer: "" },
  "gRPC-web over HTTP/1.1": {
    transport: (baseUrl: string) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
    answer: "",
  },
};

const postgres = await testDatabase();
const redisUrl = await testRedis();
const { folder, remove } = serviceFolder();

describe.skipIf(!postgres || !redisUrl)("a replica that stops", () => {
  const balancers: PinningBalancer[] = [];
  const clients = new Map<string, TssClient>();
  const seed = new Uint8Array(randomBytes(32));
  let localnet: LocalnetProcess;
  let staying: ServiceProcess;
  let stopping: ServiceProcess;
  let database: Database;
  let key: OnboardResult;

  beforeAll(async () => {
    localnet = await startLocalnetProcess(folder);
    const start = async (type: string) =>
      await startService(path.join(folder, type), {
        DATABASE_URL: postgres!.url,
        REDIS_URL: redisUrl!,
        LOCALNET_URL: localnet.url,
        PRESIGN_BUCKETS: "ED25519/EdDSA",
        PRESIGN_POOL_LOW_WATER: String(2 * Object.keys(CLIENTS).length),
        PROCESS_TYPE: type,
      });
    staying = await start("all");
    stopping = await start("api");
    database = await openTestPool(postgres!.url);
    const projectId = await projectWith(database, 1_000_000_000n);
    const { plaintext: apiKey } = await insertApiKey(database, TEST_ORIGIN, {
      projectId,
      name: "clients",
      scopes: SCOPES,
    });
    for (const [name, { transport, answer }] of Object.entries(CLIENTS)) {
      const urls = [stopping.access.baseUrl, staying.access.baseUrl];
      const balancer = await startPinningBalancer(urls, { failuresMax: FAILURES_MAX, answer });
      balancers.push(balancer);
      const { url: baseUrl } = balancer;
      clients.set(
        name,
        createClient({
          baseUrl,
          apiKey,
          network: "localnet",
          transport: transport(baseUrl),
          fullnodeUrl: localnet.url,
        }),
      );
    }
    key = await clients.get("gRPC")!.onboard({ seed, curve: "ED25519" });
  });

  afterAll(async () => {
    for (const balancer of balancers) await balancer.close();
    await stopping?.stop();
    await staying?.stop();
    await localnet?.stop();
    await database?.close();
    await postgres?.drop();
    remove();
  });

  it("costs no client a signature, and no project a second charge, over any protocol", async () => {
    const names = [...clients.keys()];
    // No presign is made while the sessions are held back.
    await pollUntil(async () => {
      const ready = await database.query("SELECT 1 FROM presign WHERE state = 'ready'", []);
      return ready.length >= 2 * names.length;
    });
    // The network holds the sessions back, so that every client follows its request when the replica stops.
    await holdSessions(true);
    const signals = new EventEmitter();
    const following = once(signals, "all");
    let followingCount = 0;
    const first = names.map(
      async (name) =>
        await sign(name, (stage) => {
          if (stage === "submitted" && ++followingCount === names.length) signals.emit("all");
        }),
    );
    await Promise.race([following, Promise.all(first)]);
    expect(await stopping.stop()).toBe(0);
    // These begin while the balancers still choose the replica.
    const second = names.map(async (name) => await sign(name));
    await holdSessions(false);

    const signed = await Promise.allSettled([...first, ...second]);
    const failed = signed.map((each, index) =>
      each.status === "rejected" ? [names[index % names.length], each.reason] : [],
    );
    expect(failed.flat()).toEqual([]);
    // Connections that begin at once can fail beyond the bound.
    for (const balancer of balancers) expect(balancer.failedCount()).toBeGreaterThanOrEqual(FAILURES_MAX);
    const rows = await database.query<{ status: string; charges: number }>(
      `SELECT r.status, (SELECT count(*)::int FROM ledger_entry e
         WHERE e.key LIKE '%:' || r.id::text AND e.amount_micro_usd < 0) AS charges FROM sign_request r`,
    );
    expect(rows).toEqual(Array(2 * names.length).fill({ status: "completed", charges: 1 }));
  });

  async function sign(name: string, onProgress: (stage: string) => void = () => {}): Promise<void> {
    const message = new Uint8Array(randomBytes(32));
    const { sessionDigestHex, dwallet, publicKeyHex } = key;
    const { signature } = await clients
      .get(name)!
      .sign({ ...algorithm, seed, dwalletId: dwallet.id, sessionDigestHex, message }, { onProgress });
    const publicKey = Buffer.from(publicKeyHex, "hex");
    expect(isValidSignature({ ...triple, publicKey, message, signature })).toBe(true);
  }

  async function holdSessions(paused: boolean): Promise<void> {
    const reply = await fetch(new URL("/localnet/faults", localnet.url), {
      method: "POST",
      body: JSON.stringify({ paused }),
    });
    if (!reply.ok) throw new Error(`the localnet answers ${reply.status}`);
  }
});
