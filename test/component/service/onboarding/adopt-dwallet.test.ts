/** Which dWallets a project can adopt, over a fullnode whose answers the test controls. */
import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { toBase58 } from "@mysten/sui/utils";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  AdoptDWalletRequestSchema,
  DWallet_State,
  DWalletKind,
} from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { adoptDWallet } from "../../../../src/service/onboarding/adopt-dwallet.ts";
import { encodeDWallet } from "../../../../src/service/onboarding/dwallet-row.ts";
import type { OnboardingDeps } from "../../../../src/service/onboarding/onboarding-deps.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { addKeyUser } from "../../../../src/service/users/key-users.ts";
import { custodyObjects } from "../../../support/chain/treasury-bytes.ts";
import { type Adoptable, type AdoptableOptions, adoptable } from "../../../support/database/adoptions.ts";
import { changedRows } from "../../../support/database/changed-rows.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { dwalletOf, moneyOf, objectId, projectWith, TEST_ORIGIN } from "../../../support/database/rows.ts";

const TREASURY = objectId();
const CHAIN = new Uint8Array(32).fill(5);
const EPOCH = 5n;
const PER_DAY = 3;
const SHARE = "encrypted_user_secret_key_share_id";
let database: Database;
let projectId: string;
let wallet: Adoptable;
/** The owner in the Treasury's records; undefined: it does not hold the capability. */
let holder: string | undefined;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 0n);
  await use({});
});

/** Makes the dWallet of the test. */
async function use(unusual: Partial<AdoptableOptions>): Promise<void> {
  wallet = await adoptable(database, { projectId, treasuryId: TREASURY, chain: CHAIN, ...unusual });
  holder = wallet.custody.owner;
}

/** Adopts the test's dWallet with this request of its owner, as a caller of the project. */
function adopt(
  request: ReturnType<Adoptable["request"]> = wallet.request(),
  caller: { readonly projectId: string; readonly allowance?: object } = { projectId },
) {
  const { custody, contents } = wallet;
  const objects = new Map([...custodyObjects(TREASURY, { ...custody, owner: holder }), ...contents]);
  const deps = {
    database,
    network: { name: "localnet", treasury: { treasuryId: TREASURY } },
    readerFor: () => ({
      getObjects: async (ids: readonly string[]) => new Map([...objects].filter(([id]) => ids.includes(id))),
      epoch: async () => ({ epoch: EPOCH }),
      chainIdentifier: async () => toBase58(CHAIN),
    }),
    dkgsPerDay: PER_DAY,
    usersMaxCount: 10,
  } as unknown as OnboardingDeps;
  const message = create(AdoptDWalletRequestSchema, request);
  return adoptDWallet(deps, { origin: TEST_ORIGIN, ...caller } as never, message);
}

const rowsOf = async () =>
  (await database.query("SELECT 1 FROM dwallet WHERE object_id = $1", [wallet.dwalletId])).length;

it("an adopted dWallet is Active with its key, its share and its session, for nothing and without a transaction", async () => {
  const request = wallet.request();
  const tables = ["dwallet", "audit_event", "event", "chain_operation", "ledger_entry", "project"];
  const changes = await changedRows(database, tables, () => adopt(request));
  expect(Object.keys(changes).sort()).toEqual(["audit_event", "dwallet", "event"]);
  const message = encodeDWallet(await adopt(request));
  expect(message).toMatchObject({
    dwalletId: wallet.dwalletId,
    state: DWallet_State.Active,
    publicKey: wallet.publicKey,
    encryptedUserSecretKeyShareId: request.encryptedUserSecretKeyShareId,
    sessionDigest: request.sessionDigest,
    txDigest: "",
    adoptTime: expect.anything(),
  });
  expect(await moneyOf(database, projectId)).toMatchObject({ balance: 0n, held: 0n, differences: [] });
});

it.each([
  [false, DWalletKind.dkg],
  [true, DWalletKind.imported_key],
])(
  "an adopted dWallet whose imported key is %s on the chain has that kind, so it signs with the right presigns",
  async (isImported, kind) => {
    await use({ dwallet: { is_imported_key_dwallet: isImported } });
    expect(encodeDWallet(await adopt())).toMatchObject({ dwalletId: wallet.dwalletId, kind });
  },
);

it("a repeated adoption changes nothing, also after its consent has expired", async () => {
  const first = await adopt();
  const tables = ["dwallet", "audit_event", "event"];
  const repeat = () => adopt({ ...wallet.request({ expiresEpoch: 0n }), name: "other" });
  expect(await changedRows(database, tables, repeat)).toEqual({});
  expect((await repeat()).id).toBe(first.id);
});

it("concurrent adoptions make one row", async () => {
  const rows = await Promise.all([adopt(), adopt()]);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(1);
  expect(await rowsOf()).toBe(1);
});

describe("nothing is adopted", () => {
  it("that another project has, whoever consents", async () => {
    await adopt();
    const other = await projectWith(database, 0n);
    await database.query(
      `INSERT INTO encryption_key (id, project_id, network, curve, signer_address, encryption_key, signature,
                                   signer_public_key, object_id)
       SELECT $1, $2, network, curve, signer_address, encryption_key, signature, signer_public_key, object_id
       FROM encryption_key WHERE signer_public_key = $3`,
      [newId(), other, wallet.signerPublicKey],
    );
    await expect(adopt(wallet.request({ projectId: other }), { projectId: other })).rejects.toMatchObject({
      reason: "DWALLET_TAKEN",
      metadata: { dwalletId: wallet.dwalletId },
    });
    expect(await rowsOf()).toBe(1);
  });

  it("that another user of the project has", async () => {
    await adopt();
    await giveKeyTo("mallory");
    await expect(adopt(wallet.request({ userReference: "mallory" }))).rejects.toMatchObject({
      reason: "DWALLET_TAKEN",
    });
  });

  it.each<[string, () => Partial<Parameters<Adoptable["request"]>[0] & object>]>([
    ["project", () => ({ projectId: crypto.randomUUID() })],
    ["user", () => ({ userReference: "alice" })],
    ["dWallet", () => ({ dwalletId: objectId() })],
    ["share", () => ({ encryptedUserSecretKeyShareId: objectId() })],
    ["session", () => ({ sessionDigest: new Uint8Array(randomBytes(32)) })],
    ["chain", () => ({ chain: new Uint8Array(32) })],
    ["Treasury", () => ({ treasuryId: objectId() })],
    ["epoch", () => ({ expiresEpoch: 6n })],
  ])("by a consent for another %s", async (_what, other) => {
    const asked = wallet.request();
    const { signature } = wallet.request({ sessionDigest: asked.sessionDigest, ...other() });
    await expect(adopt({ ...asked, signature })).rejects.toMatchObject({ reason: "BAD_SIGNATURE" });
    expect(await rowsOf()).toBe(0);
  });

  it.each<[string, () => Partial<Parameters<Adoptable["request"]>[0] & object>, string]>([
    ["for another project", () => ({ projectId: crypto.randomUUID() }), "project_id"],
    ["for another Treasury", () => ({ treasuryId: objectId() }), "treasury_id"],
    ["for another chain", () => ({ chain: new Uint8Array(32) }), "chain"],
    ["that has expired", () => ({ expiresEpoch: EPOCH - 1n }), "expires_epoch"],
    ["for an object that is no share", () => ({ encryptedUserSecretKeyShareId: wallet.dwalletId }), SHARE],
  ])("with a consent %s", async (_what, signed, field) => {
    await expect(adopt(wallet.request(signed()))).rejects.toMatchObject(violation(field));
    expect(await rowsOf()).toBe(0);
  });

  it.each<[string, Partial<AdoptableOptions>, object]>([
    [
      "that is not Active",
      { dwallet: { state: { AwaitingKeyHolderSignature: [1] } } },
      { reason: "DWALLET_NOT_ACTIVE" },
    ],
    ["of another curve", { dwallet: { curve: 0 } }, violation("encryption_key_id")],
    ["by a share of another dWallet", { share: { dwallet_id: objectId() } }, violation(SHARE)],
    ["by a share of another user", { share: { encryption_key_address: objectId() } }, violation(SHARE)],
    [
      "by a share that is not accepted",
      { share: { state: { NetworkVerificationCompleted: true } } },
      violation(SHARE),
    ],
    [
      "by a share with a signature of someone else",
      { share: { state: { KeyHolderSigned: new Uint8Array(64) } } },
      violation(SHARE),
    ],
  ])("%s", async (_what, unusual, refused) => {
    await use(unusual);
    await expect(adopt()).rejects.toMatchObject(refused);
    expect(await rowsOf()).toBe(0);
  });

  it("that the Treasury does not hold, or holds for another owner", async () => {
    holder = undefined;
    await expect(adopt()).rejects.toMatchObject({ reason: "DWALLET_LEFT" });
    holder = objectId();
    await expect(adopt()).rejects.toMatchObject(violation("encryption_key_id"));
    expect(await rowsOf()).toBe(0);
  });

  it("that the chain does not know", async () => {
    wallet.contents.delete(wallet.dwalletId);
    await expect(adopt()).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });
  });

  it("while a DKG of the same owner is being requested, in any project", async () => {
    const other = await projectWith(database, 0n);
    const { rowId } = await dwalletOf(database, other, { state: "Submitting" });
    const set = "UPDATE dwallet SET signer_public_key = $2 WHERE id = $1";
    await database.query(set, [rowId, wallet.signerPublicKey]);
    await expect(adopt()).rejects.toMatchObject({ reason: "WRONG_STATE", metadata: { state: "Submitting" } });
    await database.query("UPDATE dwallet SET state = 'Failed' WHERE id = $1", [rowId]);
    await expect(adopt()).resolves.toBeDefined();
  });

  it("while the chain knows transactions that the database lacks", async () => {
    const lane = objectId();
    await database.query(
      "INSERT INTO lane (id, network, version, digest, foreign_digest) VALUES ($1, 'localnet', '1', 'd', 'unknown')",
      [lane],
    );
    try {
      await expect(adopt()).rejects.toMatchObject({ reason: "DATABASE_BEHIND_CHAIN" });
    } finally {
      await database.query("DELETE FROM lane WHERE id = $1", [lane]);
    }
    expect(await rowsOf()).toBe(0);
  });

  it("beyond the dWallets that a project creates in a day", async () => {
    for (let count = 0; count < PER_DAY; count++) await dwalletOf(database, projectId);
    await expect(adopt()).rejects.toMatchObject({ reason: "QUOTA_EXCEEDED" });
    expect(await rowsOf()).toBe(0);
  });

  it("under a name that another dWallet has", async () => {
    const { rowId } = await dwalletOf(database, projectId);
    await database.query("UPDATE dwallet SET name = 'savings' WHERE id = $1", [rowId]);
    await expect(adopt({ ...wallet.request(), name: "savings" })).rejects.toMatchObject({
      reason: "DWALLET_NAME_TAKEN",
      metadata: { name: "savings" },
    });
    await expect(adopt({ ...wallet.request(), name: "spendings" })).resolves.toMatchObject({
      name: "spendings",
    });
  });

  it("with an encryption key that is not the project's, or not the user's", async () => {
    const unknown = { ...wallet.request(), encryptionKeyId: objectId() };
    await expect(adopt(unknown)).rejects.toMatchObject({ reason: "ENCRYPTION_KEY_NOT_FOUND" });
    await expect(adopt(wallet.request({ userReference: "alice" }))).rejects.toMatchObject({
      reason: "ENCRYPTION_KEY_NOT_FOUND",
    });
  });

  it("by a caller that is confined to dWallets, or to another user", async () => {
    const confined = (allowance: object) => adopt(undefined, { projectId, allowance });
    await expect(confined({ dwalletIds: [wallet.dwalletId] })).rejects.toMatchObject({
      reason: "OUT_OF_REACH",
    });
    // The consent names no user, and the dWallet would be the caller's.
    await expect(confined({ userReferences: ["mallory"] })).rejects.toMatchObject({
      reason: "ENCRYPTION_KEY_NOT_FOUND",
    });
  });
});

it("a dWallet that a user's consent names belongs to that user", async () => {
  await giveKeyTo("alice");
  const adopted = await adopt(wallet.request({ userReference: "alice" }));
  expect(adopted).toMatchObject({ userReference: "alice", objectId: wallet.dwalletId });
});

/** Registers the owner's key for a user of the project. */
async function giveKeyTo(userReference: string): Promise<void> {
  await dwalletOf(database, projectId, { userReference });
  const query = "SELECT id FROM encryption_key WHERE signer_public_key = $1";
  const [key] = await database.query<{ id: string }>(query, [wallet.signerPublicKey]);
  await addKeyUser(database, { projectId, reference: userReference }, key!.id);
}

it.each([
  ["Left", "DWALLET_LEFT"],
  ["NetworkRejectedDKGVerification", "DWALLET_NOT_ACTIVE"],
])("a dWallet of the project that is %s is not returned as one to sign with", async (state, reason) => {
  await adopt();
  const change = "UPDATE dwallet SET state = $1 WHERE object_id = $2";
  await database.query(change, [state, wallet.dwalletId]);
  await expect(adopt()).rejects.toMatchObject({ reason });
});

it("the previous release reads an adopted row: no column that it uses is null", async () => {
  await adopt();
  const [row] = await database.query<Record<string, unknown>>(
    `SELECT sender_address, session_identifier, request_hash, user_dkg_message, encrypted_user_share_and_proof,
       user_public_output FROM dwallet WHERE object_id = $1`,
    [wallet.dwalletId],
  );
  expect(row!["sender_address"]).toMatch(/^0x0{64}$/);
  expect(row!["session_identifier"]).toHaveLength(32);
  expect(Object.values(row!)).not.toContain(null);
});

it("the database takes no adopted row that lacks what a signature needs", async () => {
  const { rowId } = await dwalletOf(database, projectId);
  const change = (set: string) => database.query(`UPDATE dwallet SET ${set} WHERE id = $1`, [rowId]);
  await expect(change("session_digest = '\\x00'")).rejects.toThrow("dwallet_origin");
  await expect(change("adopted_at = now()")).rejects.toThrow("dwallet_origin");
  await adopt();
  const adopted = database.query("UPDATE dwallet SET cap_id = NULL WHERE object_id = $1", [wallet.dwalletId]);
  await expect(adopted).rejects.toThrow("dwallet_origin");
});

function violation(field: string): object {
  return { reason: "VALIDATION", violations: [{ field }] };
}
