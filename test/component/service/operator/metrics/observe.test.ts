import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { addLane } from "../../../../../src/service/chain/submit/lane-table.ts";
import { affordableSigns } from "../../../../../src/service/operator/metrics/chain-figures.ts";
import { createDatabaseGauges } from "../../../../../src/service/operator/metrics/database-gauges.ts";
import { createSnapshotLoops } from "../../../../../src/service/operator/metrics/observation.ts";
import { readDatabaseFigures } from "../../../../../src/service/operator/metrics/read-database-figures.ts";
import { createServiceMetrics } from "../../../../../src/service/operator/metrics/service-metrics.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { createMetrics, type Metrics } from "../../../../../src/service/platform/telemetry/metrics.ts";
import { createPresignQueue } from "../../../../../src/service/presigns/presign-queue.ts";
import { signSteps } from "../../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { dwalletOf, projectWith, readyPresigns } from "../../../../support/database/rows.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const NETWORK = "localnet";
const signals = createLocalSignals();
let database: Database;
let metrics: Metrics;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(() => {
  metrics = createMetrics();
});
afterEach(async () => {
  metrics.close();
  await database.query(
    "TRUNCATE sign_request, presign, chain_operation, chain_transaction, lane CASCADE",
    undefined,
  );
});

/** The samples of one metric, by the text of their labels. */
async function samples(name: string): Promise<Record<string, number>> {
  const { body } = await metrics.render();
  const lines = [...body.matchAll(new RegExp(`^service_${name}(?:\\{(.*)\\})? (\\S+)$`, "gm"))];
  return Object.fromEntries(lines.map(([, labels = "", value]) => [labels, Number(value)]));
}

describe("the gauges of the database", { timeout: DATABASE_TIMEOUT_MS }, () => {
  it("count open rows by kind and state, with the age of the oldest", async () => {
    const { signing, ids } = await fiveSigns();
    await signing.submit(ids.project, ids.signs[1]!);
    for (const id of ids.signs.slice(2)) await signing.submit(ids.project, id);
    await signing.land(ids.signs[2]!);
    await signing.refuse(ids.signs[3]!);
    await database.query(
      "UPDATE chain_operation SET state = 'landed' WHERE subject_id = ANY($1::uuid[]) AND subject_id <> $2",
      [ids.signs.slice(2), ids.signs[4]],
    );
    await database.query(
      "UPDATE chain_operation SET created_at = now() - interval '90 seconds' WHERE subject_id = $1",
      [ids.signs[1]],
    );
    await addLane(database, NETWORK, { objectId: "0xlane", version: "1", digest: "d" });
    await addLane(database, NETWORK, { objectId: "0xold", version: "1", digest: "d" });
    await database.query(
      `INSERT INTO chain_transaction (digest, network, sender, lane, bytes, signatures, created_at)
       VALUES ('t1', $1, '0xs', '0xlane', '', '{}', now() - interval '1 minute')`,
      [NETWORK],
    );
    await database.query(
      "UPDATE chain_operation SET state = 'sent', tx_digest = 't1' WHERE subject_id = $1",
      [ids.signs[4]],
    );
    await database.query("UPDATE lane SET foreign_digest = 'x' WHERE id = '0xold'");

    const show = createDatabaseGauges(metrics, {
      laneIds: ["0xlane"],
      newestNetworkEncryptionKeyId: () => ids.bucket.networkEncryptionKeyId,
    });
    const older = { ...ids.bucket, networkEncryptionKeyId: "0xolder" };
    show(await readDatabaseFigures(database, NETWORK), [ids.bucket, older]);

    expect(await samples("outbox_operations")).toMatchObject({
      'kind="sign",state="queued"': 1,
      'kind="sign",state="sent"': 1,
      'kind="dkg",state="queued"': 0,
    });
    const ages = await samples("outbox_oldest_age_seconds");
    expect(ages['kind="sign"']).toBeGreaterThanOrEqual(90);
    expect(ages['kind="dkg"']).toBe(0);
    expect(await samples("sign_requests")).toEqual({ 'status="prepared"': 1, 'status="submitted"': 1 });
    const bucket = 'curve="SECP256K1",algorithm="ECDSASecp256k1"';
    expect(await samples("presigns")).toEqual({
      [`${bucket},key="newest",state="ready"`]: 2,
      [`${bucket},key="newest",state="pending"`]: 0,
      [`${bucket},key="newest",state="held"`]: 1,
      [`${bucket},key="older",state="ready"`]: 0,
      [`${bucket},key="older",state="pending"`]: 0,
      [`${bucket},key="older",state="held"`]: 0,
    });
    expect(await samples("lane_foreign_use")).toEqual({ 'lane="0"': 0, 'lane="other"': 1 });
    const unresolved = await samples("lane_unresolved_age_seconds");
    expect(unresolved['lane="0"']).toBeGreaterThanOrEqual(60);
    expect(unresolved['lane="other"']).toBe(0);
  });

  it("disappear with their rows", async () => {
    const { ids } = await fiveSigns();
    const show = createDatabaseGauges(metrics, {
      laneIds: [],
      newestNetworkEncryptionKeyId: () => undefined,
    });
    show(await readDatabaseFigures(database, NETWORK), [ids.bucket]);
    expect(Object.values(await samples("presigns"))).toContain(5);
    await database.query("TRUNCATE sign_request, presign, chain_operation CASCADE", undefined);
    show(await readDatabaseFigures(database, NETWORK), []);
    expect(await samples("presigns")).toEqual({});
    expect(await samples("sign_requests")).toEqual({ 'status="prepared"': 0, 'status="submitted"': 0 });
  });
});

describe("ended sign requests", () => {
  it("are each counted once, and completed ones with the time in each state", async () => {
    const { signing, ids } = await fiveSigns();
    const [completed, rejected, refused] = ids.signs as [string, string, string];
    for (const id of [completed, rejected, refused]) await signing.submit(ids.project, id);
    await database.query(
      "UPDATE sign_request SET created_at = created_at - interval '20 seconds' WHERE id = $1",
      [completed],
    );
    for (const id of [completed, rejected]) await signing.land(id);
    await database.query(
      `INSERT INTO chain_transaction (digest, network, sender, lane, bytes, signatures, state, resolved_at)
       VALUES ('digest', $1, '0xs', '0xlane', '', '{}', 'landed', now() + interval '3 seconds')`,
      [NETWORK],
    );
    await database.query("UPDATE chain_operation SET tx_digest = 'digest' WHERE subject_id = $1", [
      completed,
    ]);
    for (let time = 0; time < 2; time++) {
      await signing.complete(completed, ids.dwallet);
      await signing.reject(rejected);
      await signing.refuse(refused);
    }
    expect(await samples("sign_requests_ended_total")).toMatchObject({
      'outcome="completed"': 1,
      'outcome="network_rejected"': 1,
      'outcome="chain_rejected"': 1,
    });
    const stages = await samples("sign_stage_duration_seconds_sum");
    expect(stages['stage="prepared"']).toBeGreaterThanOrEqual(20);
    expect(stages['stage="queued"']).toBeGreaterThan(2);
    expect(await samples("sign_duration_seconds_count")).toEqual({ "": 1 });
  });

  it("have a bounded number of labels, whatever the reason", async () => {
    const { signs } = createServiceMetrics(metrics);
    for (let at = 0; at < 100; at++) signs.failed(`REASON_${at}`);
    expect(await samples("sign_requests_ended_total")).toMatchObject({ 'outcome="other"': 100 });
    expect(Object.keys(await samples("sign_requests_ended_total"))).toHaveLength(5);
  });
});

it("calls that found a bucket empty are counted by the outcome of their wait", async () => {
  const { onPresignWait: onWait } = createServiceMetrics(metrics);
  const queue = createPresignQueue({
    clock: systemClock,
    signals,
    onWait,
    projectWaitingMaxCount: 1,
    pollMs: 1,
  });
  const bucket = { network: NETWORK, curve: 0, signatureAlgorithm: 0, networkEncryptionKeyId: "0x1" };
  const patience = { projectId: "p", timeoutMs: 60_000, signal: new AbortController().signal };
  const found = ["there"];
  const attempt = async () => found.pop();
  await queue.take(bucket, patience, attempt);
  const waiting = queue.take(bucket, patience, attempt);
  await new Promise((resolve) => setImmediate(resolve));
  await queue.take(bucket, patience, attempt);
  found.push("later");
  await waiting;
  await queue.take(bucket, { ...patience, timeoutMs: 1 }, attempt);
  expect(await samples("presign_wait_duration_seconds_count")).toEqual({
    'outcome="served"': 1,
    'outcome="refused"': 1,
    'outcome="gave_up"': 1,
  });
});

it("a failed reading does not change the gauges, and the age of the last one grows", async () => {
  const gauge = metrics.gauge("things", "Things.");
  let times = 0;
  let failedTwice: () => void = () => {};
  const failing = new Promise<void>((resolve) => {
    failedTwice = resolve;
  });
  const { loop } = createSnapshotLoops({ clock: systemClock, metrics, log: silentLog })({
    name: "things",
    intervalMs: 1,
    async read() {
      times++;
      if (times > 2) failedTwice();
      if (times > 1) throw new Error("no answer");
      gauge.set(7);
    },
  });
  expect((await samples("snapshot_age_seconds"))['snapshot="things"']).toBeGreaterThan(0);
  loop.start();
  await failing;
  await loop.stop();
  expect(await samples("things")).toEqual({ "": 7 });
  const first = (await samples("snapshot_age_seconds"))['snapshot="things"'] ?? 0;
  expect((await samples("snapshot_age_seconds"))['snapshot="things"']).toBeGreaterThan(first);
});

describe("the signatures that a Treasury can pay for", () => {
  const price = (ika: bigint, sui: bigint) => ({ curve: 0, signatureAlgorithm: 0, ika, sui });

  it("are counted in the scarcer coin, at the highest price", () => {
    expect(affordableSigns({ ika: 100n, sui: 1_000n }, [price(10n, 10n), price(25n, 1n)])).toBe(4);
    expect(affordableSigns({ ika: 100n, sui: 19n }, [price(10n, 10n), price(25n, 1n)])).toBe(1);
    expect(affordableSigns({ ika: 9n, sui: 0n }, [price(10n, 0n)])).toBe(0);
  });

  it("are unlimited if everything is free", () => {
    expect(affordableSigns({ ika: 0n, sui: 0n }, [price(0n, 0n)])).toBe(Number.POSITIVE_INFINITY);
  });
});

/** Makes five reservations of one project, and leaves two presigns. */
async function fiveSigns() {
  const project = await projectWith(database, 1_000n);
  const dwallet = await dwalletOf(database, project);
  await readyPresigns(database, dwallet.bucket, 7);
  const signing = signSteps(database, signals, createServiceMetrics(metrics).signs);
  const signs: string[] = [];
  for (let at = 0; at < 5; at++) signs.push(await signing.reserve(project, dwallet));
  return { signing, ids: { project, dwallet, signs, bucket: dwallet.bucket } };
}
