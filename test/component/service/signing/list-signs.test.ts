import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { Signing, SignRequest_Status as Status } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { createPresignQueue } from "../../../../src/service/presigns/presign-queue.ts";
import { createSigningService } from "../../../../src/service/signing/signing-service.ts";
import { holdSteps, keyCaller } from "../../../support/crypto/hold-steps.ts";
import { checkHalfInline } from "../../../support/crypto/inline-verifier.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { flatPrices } from "../../../support/database/prices.ts";
import {
  dwalletOf,
  objectId,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  type TestDWalletRow,
} from "../../../support/database/rows.ts";
import { clientOf, refusalOf } from "../../../support/service/service-client.ts";

const signals = createLocalSignals();
let database: Database;
let projectId: string;
let dwallets: [TestDWalletRow, TestDWalletRow];
let signing: ReturnType<typeof clientOf<typeof Signing>>;
let steps: ReturnType<typeof signSteps>;

beforeAll(async () => {
  database = await openTestDatabase();
  steps = signSteps(database, signals);
  const service = createSigningService({
    clock: systemClock,
    database,
    signals,
    presigns: createPresignQueue({ clock: systemClock, signals }),
    checkHalf: checkHalfInline,
    prices: flatPrices(10n),
    reservationTtlMs: 60_000,
    openMaxCount: 100,
  });
  signing = clientOf(Signing, service, () => ({
    kind: "project",
    projectId,
    apiKeyId: "key",
    network: "localnet",
    scopes: [],
    origin: TEST_ORIGIN,
  }));
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 1_000n);
  dwallets = [await dwalletOf(database, projectId), await dwalletOf(database, projectId)];
  for (const { bucket } of dwallets) await readyPresigns(database, bucket, 6);
});

const reserve = (dwallet: TestDWalletRow) => steps.reserve(projectId, dwallet);
type Filter = Parameters<typeof signing.listSigns>[0];
const idsOf = async (filter: Filter) =>
  (await signing.listSigns(filter)).signRequests.map(({ signRequestId }) => signRequestId);

it("all requests of the project are listed as GetSign shows them, the newest first", async () => {
  const ids = [await reserve(dwallets[0]), await reserve(dwallets[1]), await reserve(dwallets[0])];
  await steps.submit(projectId, ids[1]!);
  const { signRequests, nextPageToken } = await signing.listSigns({});
  expect(signRequests).toEqual(
    await Promise.all(ids.toReversed().map((signRequestId) => signing.getSign({ signRequestId }))),
  );
  expect(nextPageToken).toBe("");
  projectId = await projectWith(database, 0n);
  expect(await idsOf({})).toEqual([]);
});

it("a list filters by dWallet, by state, and by both", async () => {
  const [a1, b1] = [await reserve(dwallets[0]), await reserve(dwallets[1])];
  const [a2, b2] = [await reserve(dwallets[0]), await reserve(dwallets[1])];
  await steps.submit(projectId, a1);
  await steps.expire(b1);
  const dwalletId = dwallets[0].objectId;
  expect(await idsOf({ dwalletId })).toEqual([a2, a1]);
  expect(await idsOf({ status: Status.prepared })).toEqual([b2, a2]);
  expect(await idsOf({ status: Status.queued })).toEqual([a1]);
  expect(await idsOf({ status: Status.failed })).toEqual([b1]);
  expect(await idsOf({ dwalletId, status: Status.prepared })).toEqual([a2]);
  expect(await idsOf({ dwalletId, status: Status.completed })).toEqual([]);
});

it("a list of held halves has those that wait for their release alone, page after page", async () => {
  const holds = holdSteps(database, signals);
  const signer = await keyCaller(database, projectId, ["sign"]);
  const atOnce = await reserve(dwallets[1]);
  await steps.submit(projectId, atOnce);
  const verifying = await holds.reserve(signer, dwallets[1]);
  await holds.submit(signer, verifying);
  const held = [await holds.held(signer, dwallets[0]), await holds.held(signer, dwallets[0])].toReversed();
  const released = await holds.held(signer, dwallets[0]);
  await signing.releaseSign({ signRequestId: released });
  expect(await idsOf({ held: true })).toEqual(held);
  expect(await idsOf({ held: true, dwalletId: dwallets[1].objectId })).toEqual([]);
  expect(await idsOf({ held: true, status: Status.queued })).toEqual(held);
  expect(await idsOf({ held: true, status: Status.completed })).toEqual([]);
  const { nextPageToken: pageToken, signRequests } = await signing.listSigns({ held: true, pageSize: 1 });
  expect(signRequests.map(({ signRequestId }) => signRequestId)).toEqual(held.slice(0, 1));
  expect(await idsOf({ held: true, pageSize: 1, pageToken })).toEqual(held.slice(1));
  expect(await refusalOf(signing.listSigns({ pageToken }))).toBe("VALIDATION");
});

it("pages neither repeat nor skip requests while requests are created and change", async () => {
  const ids = [];
  for (let count = 0; count < 5; count++) ids.unshift(await reserve(dwallets[0]));
  const first = await signing.listSigns({ pageSize: 2 });
  await reserve(dwallets[0]);
  await steps.submit(projectId, ids[2]!);
  const second = await signing.listSigns({ pageSize: 2, pageToken: first.nextPageToken });
  const third = await signing.listSigns({ pageSize: 2, pageToken: second.nextPageToken });
  const seen = [first, second, third].flatMap(({ signRequests }) => signRequests);
  expect(seen.map(({ signRequestId }) => signRequestId)).toEqual(ids);
  expect(third.nextPageToken).toBe("");
});

it("a page token is refused with another filter or for another project, and a negative page size always", async () => {
  await reserve(dwallets[0]);
  await reserve(dwallets[0]);
  const { nextPageToken: pageToken } = await signing.listSigns({ pageSize: 1 });
  const dwalletId = dwallets[0].objectId;
  for (const filter of [{ dwalletId }, { status: Status.prepared }, { pageSize: -1 }]) {
    expect(await refusalOf(signing.listSigns({ pageToken, ...filter }))).toBe("VALIDATION");
  }
  projectId = await projectWith(database, 0n);
  expect(await refusalOf(signing.listSigns({ pageToken }))).toBe("VALIDATION");
});

it("a dWallet that the project does not have is not found, and an unknown state is refused", async () => {
  expect(await refusalOf(signing.listSigns({ dwalletId: objectId() }))).toBe("DWALLET_NOT_FOUND");
  const foreign = await dwalletOf(database, await projectWith(database, 0n));
  expect(await refusalOf(signing.listSigns({ dwalletId: foreign.objectId }))).toBe("DWALLET_NOT_FOUND");
  expect(await refusalOf(signing.listSigns({ dwalletId: "" }))).toBe("VALIDATION");
  expect(await refusalOf(signing.listSigns({ status: Status.STATUS_UNSPECIFIED }))).toBe("VALIDATION");
});
