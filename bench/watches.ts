/**
 * The cost of an idle `WatchSign` for the service over each protocol on HTTP/2: resident memory and heap of each watch,
 * and the processor time of all of them while nothing happens except heartbeats and reads of the database. Each watches
 * its own request. The baseline of the same run is a bare HTTP/2 server of Node that holds as many idle streams.
 * Garbage is collected before each reading.
 *
 * `npx tsx bench/watches.ts [--watches 10000] [--seconds 30] [--opening 16] [--protocols grpc,connect,rest]`;
 * `--opening` sets how many streams wait for their first message at a time. PostgreSQL as in TEST_DATABASE_URL, else on
 * 127.0.0.1.
 */
import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import pg from "pg";
import { Signing } from "../gen/proto/tss/v1/signing_pb.ts";
import { Hash, SignatureAlgorithm } from "../gen/proto/tss/v1/types_pb.ts";
import { startSimLocalnet } from "../test/sim/sim-localnet.ts";
import { testDatabase } from "../test/support/database/postgres.ts";
import { ROOT } from "../test/support/repository/source-files.ts";
import type { Signer } from "./service-load.ts";
import { startBenchService } from "./support/bench-service.ts";
import { makeSigner } from "./support/make-signer.ts";
import { MEMORY_PROBE, type ProbeReading } from "./support/memory-probe.ts";
import type { WatchProtocol, WatchTask } from "./watches-load.ts";

const { values } = parseArgs({
  options: {
    watches: { type: "string", default: "10000" },
    seconds: { type: "string", default: "30" },
    opening: { type: "string", default: "16" },
    protocols: { type: "string", default: "grpc,connect,rest" },
  },
});
const WATCH_COUNT = Number(values.watches);
const SECONDS = Number(values.seconds);
const OPENING_COUNT = Number(values.opening);
/** Watches opened and closed before the first reading, so that it includes everything that is built once. */
const WARM_UP_COUNT = Math.min(WATCH_COUNT, 200);
const ADMIN_API_KEY = "bench-bench-bench-bench-bench-bench";
const PROTOCOLS = values.protocols.split(",") as WatchProtocol[];
const MEGABYTE = 1024 * 1024;
/** Copies a request and its presign. */
const COPY = `
WITH copy AS MATERIALIZED (
  SELECT gen_random_uuid() AS id, gen_random_uuid() AS presign_id, gen_random_uuid() AS presign_object_id
  FROM generate_series(1, $2)
), presigns AS (
  INSERT INTO presign
  SELECT (jsonb_populate_record(p, jsonb_build_object('id', c.presign_id, 'presign_id', c.presign_object_id))).*
  FROM copy c, presign p JOIN sign_request r ON r.presign_id = p.id WHERE r.id = $1
)
INSERT INTO sign_request
SELECT (jsonb_populate_record(r, jsonb_build_object('id', c.id, 'presign_id', c.presign_id))).*
FROM copy c, sign_request r WHERE r.id = $1
RETURNING id`;

interface Cost {
  readonly name: string;
  readonly rssBytes: number;
  readonly heapBytes: number;
  /** Milliseconds of processor time per second. */
  readonly cpuMs: number;
}

execFileSync(process.execPath, ["--import", "tsx", "tools/build.ts"], { cwd: ROOT });

const costs = [await measureBare()];
for (const protocol of PROTOCOLS) costs.push(await measureService(protocol));

console.log(`| ${WATCH_COUNT} idle streams | RSS MB | RSS bytes each | heap bytes each | CPU ms a second |`);
console.log("|---|---|---|---|---|");
for (const { name, rssBytes, heapBytes, cpuMs } of costs) {
  const each = (bytes: number) => (bytes / WATCH_COUNT).toFixed(0);
  const cells = [(rssBytes / MEGABYTE).toFixed(0), each(rssBytes), each(heapBytes), cpuMs.toFixed(1)];
  console.log(`| ${name} | ${cells.join(" | ")} |`);
}
for (const { name, rssBytes } of costs.slice(1))
  console.log(`RSS of ${name} / bare node:http2: ${(rssBytes / costs[0]!.rssBytes).toFixed(2)}`);

async function measureBare(): Promise<Cost> {
  const child = fork(path.join(import.meta.dirname, "watches-bare.ts"), {
    execArgv: ["--import", "tsx", ...MEMORY_PROBE],
  });
  try {
    const [{ url }] = (await once(child, "message")) as [{ url: string }];
    const signRequestIds = Array.from({ length: WATCH_COUNT }, () => "");
    const protocol: WatchProtocol = "grpc";
    const task = { url, apiKey: "none", signRequestIds, protocol, openingCount: OPENING_COUNT };
    return await measure("bare node:http2", child, task);
  } finally {
    child.kill();
  }
}

async function measureService(protocol: WatchProtocol): Promise<Cost> {
  const folder = mkdtempSync(path.join(tmpdir(), "bench-watches-"));
  const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
  try {
    const postgres = await testDatabase();
    if (postgres === undefined) throw new Error("this needs a PostgreSQL server");
    stops.push(postgres.drop);
    const localnet = await startSimLocalnet();
    stops.push(localnet.stop);
    const environment = {
      DATABASE_URL: postgres.url,
      LOCALNET_URL: localnet.url,
      DATA_DIR: folder,
      ADMIN_API_KEY,
      PRESIGN_BUCKETS: "SECP256K1/ECDSASecp256k1",
      PRESIGN_RESERVATION_TTL_SECONDS: "3600",
      RATE_LIMIT_STREAM_PER_SECOND: "0",
      MAX_STREAMS_PER_KEY: String(WATCH_COUNT),
      MAX_STREAMS_PER_PROJECT: String(WATCH_COUNT),
      LOG_LEVEL: "silent",
      PORT: "0",
    };
    const service = await startBenchService(environment, MEMORY_PROBE);
    stops.push(service.stop);
    const signer = await makeSigner(service.url, ADMIN_API_KEY, 0);
    const signRequestIds = await openRequests(postgres.url, service.url, signer);
    return await measure(`this service over ${protocol}`, service.child, {
      url: service.url,
      apiKey: signer.apiKey,
      signRequestIds,
      protocol,
      openingCount: OPENING_COUNT,
    });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/**
 * Holds as many streams as there are requests. Waits for the first message of each, and keeps them open until the end.
 */
async function measure(name: string, server: ChildProcess, task: WatchTask): Promise<Cost> {
  const say = (what: string) => process.stderr.write(`${name}: ${what}\n`);
  const load = fork(path.join(import.meta.dirname, "watches-load.ts"), { execArgv: ["--import", "tsx"] });
  try {
    say("warming up");
    await ask(load, { ...task, signRequestIds: task.signRequestIds.slice(0, WARM_UP_COUNT) });
    await ask(load, { ...task, signRequestIds: [] });
    const before = await ask<ProbeReading>(server, "read");
    say(`opening ${WATCH_COUNT} streams`);
    await ask(load, task);
    const opened = await ask<ProbeReading>(server, "read");
    say(`idle for ${SECONDS} s`);
    await sleep(SECONDS * 1_000);
    const after = await ask<ProbeReading>(server, "read");
    return {
      name,
      rssBytes: after.rssBytes - before.rssBytes,
      heapBytes: after.heapBytes - before.heapBytes,
      cpuMs: (after.cpuMsBefore - opened.cpuMsAfter) / SECONDS,
    };
  } finally {
    load.kill();
  }
}

async function ask<T>(child: ChildProcess, question: unknown): Promise<T> {
  const answer = Promise.race([
    once(child, "message"),
    once(child, "exit").then(([code]) => Promise.reject(new Error(`a process ended with ${code}`))),
  ]);
  child.send(question as object);
  return (await answer)[0] as T;
}

/** Reserves one request by a call, and copies its row and its presign's row. */
async function openRequests(databaseUrl: string, baseUrl: string, signer: Signer): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const isReady = async () =>
      (await client.query("SELECT 1 FROM presign WHERE state = 'ready' LIMIT 1")).rowCount === 1;
    while (!(await isReady())) await sleep(200);
    const { signRequestId } = await createClient(Signing, createGrpcTransport({ baseUrl })).reserveSign(
      {
        dwalletId: signer.dwalletId,
        signatureAlgorithm: SignatureAlgorithm.ECDSASecp256k1,
        hashScheme: Hash.SHA256,
        message: new Uint8Array(32),
      },
      { headers: { authorization: `Bearer ${signer.apiKey}`, "idempotency-key": "bench" } },
    );
    const { rows } = await client.query<{ id: string }>(COPY, [signRequestId, WATCH_COUNT - 1]);
    return [signRequestId, ...rows.map(({ id }) => id)];
  } finally {
    await client.end();
  }
}
