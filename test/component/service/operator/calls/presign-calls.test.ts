import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { Curve, SignatureAlgorithm } from "../../../../../gen/proto/tss/v1/types_pb.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { objectId, readyPresigns } from "../../../../support/database/rows.ts";
import { type AdminReplica, adminReplica } from "../../../../support/service/admin-client.ts";
import { refusalOf } from "../../../../support/service/service-client.ts";

const networkEncryptionKeyId = objectId();
const bucket = (curve: number, signatureAlgorithm: number) => ({
  curve,
  signatureAlgorithm,
  networkEncryptionKeyId,
  ready: 1,
  pending: 2,
  held: 3,
  used: 4,
  burnt: 5,
});
let database: Database;
let admin: AdminReplica["admin"];

beforeAll(async () => {
  database = await openTestDatabase();
  ({ admin } = adminReplica(database, undefined, {
    networkEncryptionKeyId,
    lowWaterCount: 2,
    highWaterCount: 100,
  }));
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

beforeEach(async () => {
  await database.query("TRUNCATE presign, chain_operation CASCADE");
  for (const shown of [bucket(0, 0), bucket(0, 1), bucket(2, 0)]) {
    for (const state of ["ready", "pending", "held", "used", "burnt"] as const) {
      const ids = await readyPresigns(database, { ...shown, network: "localnet" }, shown[state]);
      await database.query("UPDATE presign SET state = $1 WHERE presign_id = ANY($2)", [state, ids]);
    }
  }
});

it("shows every bucket by the chain's integers and by name", async () => {
  const { buckets } = await admin.getPresignHealth({});
  expect(buckets).toHaveLength(3);
  expect(buckets[1]).toMatchObject({
    ...bucket(0, 1),
    curveName: "SECP256K1",
    signatureAlgorithmName: "Taproot",
    lowWater: 2,
    highWater: 100,
  });
});

it("shows one curve or one algorithm on request, even number 0", async () => {
  const names = async (filter: { curve?: number; signatureAlgorithm?: number }) =>
    (await admin.getPresignHealth(filter)).buckets.map((b) => b.signatureAlgorithmName);
  expect(await names({ curve: 0 })).toEqual(["ECDSASecp256k1", "Taproot"]);
  expect(await names({ curve: 0, signatureAlgorithm: 0 })).toEqual(["ECDSASecp256k1"]);
  expect(await names({ signatureAlgorithm: 0 })).toEqual(["ECDSASecp256k1", "EdDSA"]);
  expect(await names({ curve: 3 })).toEqual([]);
});

it("accepts a curve and an algorithm by name, by the contract's number and by the chain's integer", async () => {
  const names = async (filter: Parameters<typeof admin.getPresignHealth>[0]) =>
    (await admin.getPresignHealth(filter)).buckets.map((b) => b.signatureAlgorithmName);
  for (const filter of [{ curveName: Curve.SECP256K1 }, { curve: 11 }, { curve: 0 }])
    expect(await names(filter)).toEqual(["ECDSASecp256k1", "Taproot"]);
  for (const filter of [{ signatureAlgorithmName: SignatureAlgorithm.EdDSA }, { signatureAlgorithm: 24 }])
    expect(await names(filter)).toEqual(["EdDSA"]);
  const taproot = { signatureAlgorithmName: SignatureAlgorithm.Taproot };
  for (const bucketOf of [
    taproot,
    { signatureAlgorithm: 22 },
    { curve: 11, signatureAlgorithm: 1 },
    { curveName: Curve.SECP256K1, signatureAlgorithm: 1, ...taproot },
  ])
    expect(await admin.refillPresigns({ ...bucketOf, count: 1 })).toMatchObject({ queued: 1 });
  expect(await refills()).toEqual(Array(4).fill({ actor: "admin", subject: `${TAPROOT} 1` }));
});

it("refuses names and numbers that contradict each other", async () => {
  for (const filter of [
    { curve: 12, curveName: Curve.SECP256K1 },
    { curve: 2, signatureAlgorithmName: SignatureAlgorithm.Taproot },
    { signatureAlgorithm: 0, signatureAlgorithmName: SignatureAlgorithm.Taproot },
  ]) {
    expect(await refusalOf(admin.getPresignHealth(filter))).toBe("VALIDATION");
    expect(await refusalOf(admin.refillPresigns({ ...filter, count: 1 }))).toBe("VALIDATION");
  }
});

it("queues no more presigns than the high-water mark allows, and returns their number", async () => {
  await readyPresigns(database, { ...bucket(0, 1), network: "localnet" }, 78);
  expect(await admin.refillPresigns({ curve: 0, signatureAlgorithm: 1, count: 20 })).toMatchObject({
    queued: 19,
  });
  expect(await refills()).toEqual([{ actor: "admin", subject: `${TAPROOT} 19` }]);
});

it("refuses an algorithm that the curve does not have, and a missing bucket", async () => {
  expect(await refusalOf(admin.refillPresigns({ curve: 2, signatureAlgorithm: 1, count: 1 }))).toBe(
    "UNSUPPORTED_ALGORITHM",
  );
  expect(await refusalOf(admin.refillPresigns({ signatureAlgorithm: 0, count: 1 }))).toBe("VALIDATION");
  expect(await refusalOf(admin.refillPresigns({ curve: 0, count: 1 }))).toBe("VALIDATION");
});

const TAPROOT = `localnet/0/1/${networkEncryptionKeyId}`;

/** Reads the refills since the last call from the audit trail. */
async function refills() {
  const events = await database.query<{ id: bigint; actor: string; subject: string }>(
    "SELECT id, actor, subject FROM audit_event WHERE action = 'presign.refill' AND id > $1 ORDER BY id",
    [lastRefill],
  );
  lastRefill = events.at(-1)?.id ?? lastRefill;
  return events.map(({ actor, subject }) => ({ actor, subject }));
}
let lastRefill = 0n;
