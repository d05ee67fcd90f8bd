import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { DWallet_State, Onboarding } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Curve } from "../../../../gen/proto/tss/v1/types_pb.ts";
import {
  createOnboardingService,
  type OnboardingServiceDeps,
} from "../../../../src/service/onboarding/onboarding-service.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import {
  dwalletOf,
  objectId,
  projectWith,
  TEST_ORIGIN,
  type TestDWalletRow,
} from "../../../support/database/rows.ts";
import { recipientOf, sharedWith } from "../../../support/database/shares.ts";
import { clientOf, refusalOf } from "../../../support/service/service-client.ts";

let database: Database;
let projectId: string;
let onboarding: ReturnType<typeof clientOf<typeof Onboarding>>;

beforeAll(async () => {
  database = await openTestDatabase();
  // A list needs only the database.
  const service = createOnboardingService({ database } as OnboardingServiceDeps);
  onboarding = clientOf(Onboarding, service, () => ({
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
  projectId = await projectWith(database, 0n);
});

async function dwallets(count: number): Promise<TestDWalletRow[]> {
  const made: TestDWalletRow[] = [];
  for (let index = 0; index < count; index++) made.unshift(await dwalletOf(database, projectId));
  return made;
}

it("dWallets are listed in pages, the newest first, without those of other projects", async () => {
  const made = await dwallets(3);
  const first = await onboarding.listDWallets({ pageSize: 2 });
  await dwallets(1);
  const second = await onboarding.listDWallets({ pageSize: 2, pageToken: first.nextPageToken });
  const listed = [...first.dwallets, ...second.dwallets];
  expect(listed.map(({ dwalletId }) => dwalletId)).toEqual(made.map((dwallet) => dwallet.objectId));
  expect(second.nextPageToken).toBe("");
  expect(listed[0]).toMatchObject({
    curve: Curve.SECP256K1,
    state: DWallet_State.Active,
    networkEncryptionKeyId: made[0]?.bucket.networkEncryptionKeyId,
    publicOutput: Uint8Array.of(1, 2, 3),
  });
  projectId = await projectWith(database, 0n);
  expect((await onboarding.listDWallets({})).dwallets).toEqual([]);
});

it("dWallets are listed with the number of those who have accepted a share, and hold it still", async () => {
  const [shared, other] = await dwallets(2);
  for (const state of ["Accepted", "Accepted", "AwaitingAcceptance", "Removed", "Failed"])
    await sharedWith(database, shared!, await recipientOf(database, projectId), state);
  await sharedWith(database, other!, await recipientOf(database, projectId));
  const { dwallets: listed } = await onboarding.listDWallets({});
  expect(listed.map(({ holderCount }) => holderCount)).toEqual([2, 1]);
  expect((await onboarding.getDWallet({ dwalletId: shared!.objectId })).holderCount).toBe(2);
});

it("dWallets are listed by state, and the state in which the user must accept has two names", async () => {
  const [active, awaiting] = await dwallets(2);
  await database.query("UPDATE dwallet SET state = 'AwaitingKeyHolderSignature' WHERE id = $1", [
    awaiting!.rowId,
  ]);
  const idsIn = async (filter: { state: string; name?: string }) =>
    (await onboarding.listDWallets(filter)).dwallets.map(({ dwalletId }) => dwalletId);
  expect(await idsIn({ state: "Active" })).toEqual([active!.objectId]);
  expect(await idsIn({ state: "AwaitingKeyHolderSignature" })).toEqual([awaiting!.objectId]);
  expect(await idsIn({ state: "awaiting_user_share" })).toEqual([awaiting!.objectId]);
  expect(await idsIn({ state: "Submitting" })).toEqual([]);
  expect(await idsIn({ state: "Active", name: "none" })).toEqual([]);
  expect(await refusalOf(idsIn({ state: "Failed" }))).toBe("VALIDATION");
});

it("a dWallet is listed by its name, and the page token of one filter is refused with another", async () => {
  const [named] = await dwallets(2);
  await database.query("UPDATE dwallet SET name = 'savings' WHERE id = $1", [named!.rowId]);
  const { dwallets: found } = await onboarding.listDWallets({ name: "savings" });
  expect(found.map(({ dwalletId }) => dwalletId)).toEqual([named!.objectId]);
  const { nextPageToken: pageToken } = await onboarding.listDWallets({ pageSize: 1 });
  for (const filter of [{ name: "savings" }, { state: "Active" }])
    expect(await refusalOf(onboarding.listDWallets({ ...filter, pageToken }))).toBe("VALIDATION");
  const active = await onboarding.listDWallets({ state: "Active", pageSize: 1 });
  const next = { state: "Active", pageToken: active.nextPageToken };
  expect((await onboarding.listDWallets(next)).dwallets).toHaveLength(1);
  expect(await refusalOf(onboarding.listDWallets({ ...next, state: "Submitting" }))).toBe("VALIDATION");
});

it("a dWallet with a pending transaction is listed without an id, and one that never landed is not listed", async () => {
  const [failed, submitting] = await dwallets(2);
  await database.query("UPDATE dwallet SET state = 'Failed', object_id = NULL WHERE id = $1", [
    failed!.rowId,
  ]);
  await database.query("UPDATE dwallet SET state = 'Submitting', object_id = NULL WHERE id = $1", [
    submitting!.rowId,
  ]);
  const listed = (await onboarding.listDWallets({})).dwallets;
  expect(listed).toMatchObject([{ state: DWallet_State.Submitting, dwalletId: "" }]);
});

it("a dWallet is shown with everything that is stored of it, and without what it lacks", async () => {
  const [made] = await dwallets(1);
  const [id, shareId] = [made!.objectId, objectId()];
  const { dwallets: bare } = await onboarding.listDWallets({});
  for (const field of ["name", "acceptTxDigest", "leaveTxDigest"]) expect(bare[0]).not.toHaveProperty(field);
  await database.query(
    `UPDATE dwallet SET encrypted_user_secret_key_share_id = $2, tx_digest = 'made', accept_tx_digest = 'accepted',
       leave_tx_digest = 'left', name = 'savings' WHERE id = $1`,
    [made!.rowId, shareId],
  );
  const [key] = await database.query<{ id: string }>(
    "SELECT object_id AS id FROM encryption_key WHERE project_id = $1",
    [projectId],
  );
  const shown = await onboarding.getDWallet({ dwalletId: id });
  expect(shown).toMatchObject({
    ...{ dwalletId: id, curve: Curve.SECP256K1, state: DWallet_State.Active, encryptionKeyId: key!.id },
    ...{
      encryptedUserSecretKeyShareId: shareId,
      networkEncryptionKeyId: made!.bucket.networkEncryptionKeyId,
    },
    ...{ txDigest: "made", acceptTxDigest: "accepted", leaveTxDigest: "left", name: "savings" },
    publicOutput: Uint8Array.of(1, 2, 3),
  });
  expect([shown.sessionDigest.length, shown.publicKey?.length]).toEqual([32, 33]);
  expect((await onboarding.listDWallets({})).dwallets).toEqual([shown]);
  const other = await projectWith(database, 0n);
  projectId = other;
  expect(await refusalOf(onboarding.getDWallet({ dwalletId: id }))).toBe("DWALLET_NOT_FOUND");
});

it("a registered encryption key has the digest of its transaction, if the service sent one", async () => {
  await dwallets(1);
  const list = async () => (await onboarding.listEncryptionKeys({})).encryptionKeys;
  expect((await list())[0]).not.toHaveProperty("txDigest");
  await database.query("UPDATE encryption_key SET tx_digest = 'digest' WHERE project_id = $1", [projectId]);
  expect(await list()).toMatchObject([{ txDigest: "digest" }]);
});

it("registered encryption keys are listed in pages, the newest first", async () => {
  await dwallets(3);
  await database.query(
    `INSERT INTO encryption_key (id, project_id, network, curve, signer_address, encryption_key, signature,
                                 signer_public_key)
     VALUES ($1, $2, 'localnet', 2, $3, '\\x00', '\\x00', '\\x00')`,
    [newId(), projectId, objectId()],
  );
  const rows = await database.query<{ objectId: string; signerAddress: string }>(
    `SELECT object_id AS "objectId", signer_address AS "signerAddress" FROM encryption_key
     WHERE project_id = $1 AND object_id IS NOT NULL ORDER BY id DESC`,
    [projectId],
  );
  const first = await onboarding.listEncryptionKeys({ pageSize: 2 });
  await dwallets(1);
  const second = await onboarding.listEncryptionKeys({ pageSize: 2, pageToken: first.nextPageToken });
  expect([...first.encryptionKeys, ...second.encryptionKeys]).toMatchObject(
    rows.map((row) => ({
      encryptionKeyId: row.objectId,
      curve: Curve.SECP256K1,
      signerAddress: row.signerAddress,
    })),
  );
  expect(second.nextPageToken).toBe("");
});

it("a list refuses another list's page token and a negative page size", async () => {
  await dwallets(2);
  const { nextPageToken: pageToken } = await onboarding.listDWallets({ pageSize: 1 });
  expect(await refusalOf(onboarding.listEncryptionKeys({ pageToken }))).toBe("VALIDATION");
  expect(await refusalOf(onboarding.listDWallets({ pageSize: -1 }))).toBe("VALIDATION");
  expect(await refusalOf(onboarding.listEncryptionKeys({ pageSize: -1 }))).toBe("VALIDATION");
});
