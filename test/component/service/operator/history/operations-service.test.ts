import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { ChainOperation_Kind, ChainTransaction_State } from "../../../../../gen/proto/tss/v1/admin_pb.ts";
import {
  GetReadinessResponse_Status,
  Operations,
  OutboxEntry_State,
} from "../../../../../gen/proto/tss/v1/operations_pb.ts";
import { SignatureAlgorithm } from "../../../../../gen/proto/tss/v1/types_pb.ts";
import { addLane, leaseLane, markForeignUse } from "../../../../../src/service/chain/submit/lane-table.ts";
import * as outbox from "../../../../../src/service/chain/submit/outbox.ts";
import { resolveTransaction } from "../../../../../src/service/chain/submit/outbox.ts";
import { BUILD_INFO } from "../../../../../src/service/operator/health/build-info.ts";
import { checkReadiness } from "../../../../../src/service/operator/health/readiness.ts";
import { createOperationsService } from "../../../../../src/service/operator/history/operations-service.ts";
import { samplePresigns } from "../../../../../src/service/operator/history/sampling.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { signSteps } from "../../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import {
  dwalletOf,
  objectId,
  projectWith,
  readyPresigns,
  TEST_OPERATOR,
} from "../../../../support/database/rows.ts";
import { clientOf } from "../../../../support/service/service-client.ts";

const NETWORK = "localnet";
const SENDER = objectId();
let database: Database;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
afterEach(async () => {
  await database.query(
    "TRUNCATE sign_request, presign, chain_operation, chain_transaction, lane, treasury_sample, presign_sample CASCADE",
  );
});

/** An operator's client of the service. Its figures are not cached between tests. */
function operator({ laneIds = [] as string[], readiness = checkReadiness([]) } = {}) {
  const network = { senderAddress: SENDER, laneIds };
  const service = createOperationsService({
    database,
    network,
    readiness,
    processType: "api",
    networks: ["testnet", "mainnet"],
  });
  return clientOf(Operations, service, () => TEST_OPERATOR);
}

async function queuedSigns(count: number): Promise<string[]> {
  const projectId = await projectWith(database, 1_000n);
  const dwallet = await dwalletOf(database, projectId);
  await readyPresigns(database, dwallet.bucket, count);
  const signing = signSteps(database, createLocalSignals());
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    const id = await signing.reserve(projectId, dwallet);
    await signing.submit(projectId, id);
    ids.push(id);
  }
  return ids;
}

/** Sends the most urgent operations on a lane, as a worker does. */
async function send(laneId: string, digest: string, count: number): Promise<void> {
  const lease = (await leaseLane(database, laneId, 60_000))!;
  const claimed = await outbox.claimOperations(database, NETWORK, lease, { sign: count });
  const transaction = { digest, bytes: new Uint8Array(1), signatures: [], network: NETWORK, sender: SENDER };
  await database.transaction((db) =>
    outbox.storeTransaction(
      db,
      lease,
      transaction,
      claimed.map(({ id }) => id),
    ),
  );
}

it("the readiness has every check with its weight and reason, and says which process answers for which networks", async () => {
  const check = (name: string, status: "ok" | "fail", isVital: boolean) => ({
    name,
    advice: "",
    readiness: { isVital, reason: `${name} is down` },
    look: async () => ({ status, found: "" }),
  });
  const readiness = checkReadiness([check("redis", "fail", false), check("outbox", "ok", true)]);
  const reply = await operator({ readiness }).getReadiness({});
  expect(reply).toMatchObject({
    status: GetReadinessResponse_Status.degraded,
    checks: [
      { name: "redis", ok: false, vital: false, reason: "redis is down" },
      { name: "outbox", ok: true, vital: true, reason: "" },
    ],
    version: BUILD_INFO.version,
    processType: "api",
    networks: ["testnet", "mainnet"],
  });
  expect(timestampMs(reply.startTime!)).toBeLessThan(timestampMs(reply.readTime!));
});

it("a lane is shown with its lease, its open transaction and its last outcome", async () => {
  const [busy, idle] = [objectId(), objectId()];
  for (const id of [busy, idle])
    await addLane(database, NETWORK, { objectId: id, version: "1", digest: "d" });
  await database.query(
    "INSERT INTO gas_coin (network, object_id, lane_id, version, digest, merged) VALUES ('localnet', $1, $3, '1', 'd', false), ('localnet', $2, $3, '1', 'd', true)",
    [objectId(), objectId(), busy],
  );
  await queuedSigns(2);
  await send(busy, "first", 1);
  await resolveTransaction(database, "first", { state: "landed", gasUsedMist: 5n });
  await database.query("UPDATE lane SET leased_until = now() WHERE id = $1", [busy]);
  await send(busy, "second", 1);
  await outbox.unresolvedTransaction(database, NETWORK, busy);
  const { senderAddress, lanes: shown } = await operator({ laneIds: [busy] }).getLanes({});
  // Both may have been added in the same millisecond, and then their ids decide the order.
  const lanes = [busy, idle].map((id) => shown.find(({ operatorCapId }) => operatorCapId === id)!);
  expect(shown).toHaveLength(2);
  expect(senderAddress).toBe(SENDER);
  expect(lanes).toMatchObject([
    {
      operatorCapId: busy,
      configured: true,
      gasCoinCount: 1,
      unresolved: { txDigest: "second", sendCount: 2 },
      lastResolved: { txDigest: "first", state: ChainTransaction_State.landed },
    },
    { operatorCapId: idle, configured: false },
  ]);
  expect([lanes[0]!.foreignTxDigest, lanes[1]!.unresolved, lanes[1]!.lastResolved]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(lanes[0]!.leaseEndTime).toBeDefined();
  expect(lanes[0]!.fence).toBeGreaterThan(0n);
  expect(lanes[1]!.leaseEndTime).toBeUndefined();
});

it("a lane that another sender used names that sender's transaction", async () => {
  const laneId = objectId();
  await addLane(database, NETWORK, { objectId: laneId, version: "1", digest: "d" });
  await markForeignUse(database, { laneId, digest: "stranger" });
  const { lanes } = await operator().getLanes({});
  expect(lanes.map(({ foreignTxDigest }) => foreignTxDigest)).toEqual(["stranger"]);
});

it("the outbox counts waiting and sent operations, with the age of the oldest", async () => {
  const laneId = objectId();
  await addLane(database, NETWORK, { objectId: laneId, version: "1", digest: "d" });
  const [oldest] = await queuedSigns(3);
  await send(laneId, "open", 1);
  await database.query(
    "UPDATE chain_operation SET created_at = now() - interval '1 hour' WHERE subject_id = $1",
    [oldest],
  );
  const { entries, readTime } = await operator().getOutbox({});
  const sign = ChainOperation_Kind.sign;
  expect(entries.map(({ kind, state, count }) => ({ kind, state, count }))).toEqual(
    expect.arrayContaining([
      { kind: sign, state: OutboxEntry_State.queued, count: 2 },
      { kind: sign, state: OutboxEntry_State.sent, count: 1 },
    ]),
  );
  const sent = entries.find(({ state }) => state === OutboxEntry_State.sent)!;
  const ageMs = timestampMs(readTime!) - timestampMs(sent.oldestCreateTime!);
  expect(Math.round(ageMs / 60_000)).toBe(60);
});

it("the statistics of signatures name their window and their steps", async () => {
  await queuedSigns(2);
  const reply = await operator().getSignStatistics({ stepSeconds: 120 });
  expect(reply).toMatchObject({ stepSeconds: 120, requestCount: 2 });
  expect(reply.coveredStartTime).toBeUndefined();
  expect(timestampMs(reply.endTime!) - timestampMs(reply.startTime!)).toBe(3_600_000);
  const [step] = reply.steps;
  const created = timestampDate(step!.startTime!).getTime();
  expect((created - timestampMs(reply.startTime!)) % 120_000).toBe(0);
});

it("the history of the pool names each bucket, and takes an algorithm by name", async () => {
  const { bucket } = await dwalletOf(database, await projectWith(database, 0n));
  await samplePresigns(database, NETWORK, async () => [bucket, { ...bucket, signatureAlgorithm: 1 }]);
  const client = operator();
  const names = async (request: object) =>
    (await client.getPresignHistory(request)).buckets
      .filter(({ networkEncryptionKeyId }) => networkEncryptionKeyId === bucket.networkEncryptionKeyId)
      .map(({ curveName, signatureAlgorithmName }) => `${curveName}/${signatureAlgorithmName}`);
  expect(await names({})).toEqual(["SECP256K1/ECDSASecp256k1", "SECP256K1/Taproot"]);
  expect(await names({ signatureAlgorithmName: SignatureAlgorithm.Taproot })).toEqual(["SECP256K1/Taproot"]);
});

it("the history of the Treasury has the last balances of each step, and the burn rate over all of them", async () => {
  const balances: readonly (readonly [minutesAgo: number, ika: bigint])[] = [
    [125, 1_000n],
    [65, 900n],
    [5, 700n],
  ];
  const nowMs = Date.now();
  for (const [minutesAgo, ika] of balances)
    await database.query(
      "INSERT INTO treasury_sample (network, taken_at, ika, sui, gas) VALUES ($1, $2, $3, 50, 7)",
      [NETWORK, new Date(nowMs - minutesAgo * 60_000), ika],
    );
  const reply = await operator().getTreasuryHistory({ stepSeconds: 86_400 });
  expect(reply.steps.at(-1)).toMatchObject({ ikaBalance: 700n, suiBalanceMist: 50n, gasBalanceMist: 7n });
  expect(reply.ika).toMatchObject({ balance: 700n, burnPerDay: 3_600n });
  expect(reply.ika!.daysLeft).toBeCloseTo(700 / 3_600);
  expect(reply.sui).toMatchObject({ balance: 50n, burnPerDay: 0n });
  expect(reply.sui!.daysLeft).toBeUndefined();
});
