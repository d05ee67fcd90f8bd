import { expect, it } from "vitest";
import { Admin } from "../../../gen/proto/tss/v1/admin_pb.ts";
import { Curve, SignatureAlgorithm } from "../../../gen/proto/tss/v1/types_pb.ts";
import { wholeAdminService } from "../../support/admin-service.ts";
import { objectId, TEST_ORIGIN } from "../../support/rows.ts";
import { clientOf, refusalOf } from "../../support/service-client.ts";

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
const refills: unknown[] = [];
const admin = clientOf(
  Admin,
  wholeAdminService({
    accounts: {} as never,
    adminKeys: {} as never,
    chain: {} as never,
    readPresignHealth: async () =>
      [bucket(0, 0), bucket(0, 1), bucket(2, 0)].map((shown) => ({ ...shown, network: "localnet" })),
    refillBucket: async (origin, { signatureAlgorithm }, count) => {
      refills.push({ actor: origin.actor, signatureAlgorithm, count });
      return count - 1;
    },
    lowWaterCount: 2,
    highWaterCount: 100,
  }),
  () => ({ kind: "admin", network: "localnet", networks: ["localnet"], origin: TEST_ORIGIN }),
);

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
  refills.length = 0;
  const taproot = { signatureAlgorithmName: SignatureAlgorithm.Taproot };
  for (const bucketOf of [
    taproot,
    { signatureAlgorithm: 22 },
    { curve: 11, signatureAlgorithm: 1 },
    { curveName: Curve.SECP256K1, signatureAlgorithm: 1, ...taproot },
  ])
    await admin.refillPresigns({ ...bucketOf, count: 1 });
  expect(refills).toEqual(Array(4).fill({ actor: "system", signatureAlgorithm: "Taproot", count: 1 }));
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

it("returns the number of queued presigns", async () => {
  refills.length = 0;
  expect(await admin.refillPresigns({ curve: 0, signatureAlgorithm: 1, count: 20 })).toMatchObject({
    queued: 19,
  });
  expect(refills).toEqual([{ actor: "system", signatureAlgorithm: "Taproot", count: 20 }]);
});

it("refuses an algorithm that the curve does not have, and a missing bucket", async () => {
  expect(await refusalOf(admin.refillPresigns({ curve: 2, signatureAlgorithm: 1, count: 1 }))).toBe(
    "UNSUPPORTED_ALGORITHM",
  );
  expect(await refusalOf(admin.refillPresigns({ signatureAlgorithm: 0, count: 1 }))).toBe("VALIDATION");
  expect(await refusalOf(admin.refillPresigns({ curve: 0, count: 1 }))).toBe("VALIDATION");
});
