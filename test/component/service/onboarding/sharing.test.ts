/** Who shares a dWallet, who then signs with it, and what it costs, over a fullnode whose answers the test controls. */
import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { ed25519 } from "@noble/curves/ed25519.js";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  AcceptShareRequestSchema,
  ShareDWalletRequestSchema,
} from "../../../../gen/proto/tss/v1/sharing_pb.ts";
import { failOperation } from "../../../../src/service/chain/submit/outbox.ts";
import {
  acceptShare,
  createAcceptShareOperation,
} from "../../../../src/service/onboarding/sharing/accept-share.ts";
import { listHolders, removeHolder } from "../../../../src/service/onboarding/sharing/holders.ts";
import { shareDWallet } from "../../../../src/service/onboarding/sharing/share-dwallet.ts";
import { createShareOperation } from "../../../../src/service/onboarding/sharing/share-operation.ts";
import { createShareSession } from "../../../../src/service/onboarding/sharing/share-state.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../../../src/service/platform/coordination/topics.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { lookBeforeReserving } from "../../../../src/service/signing/look-before-reserving.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { moneyOf, objectId, projectWith, TEST_ORIGIN } from "../../../support/database/rows.ts";
import {
  recipientOf,
  type Sharable,
  sharable,
  shareContent,
  sharedWith,
  type TestRecipient,
} from "../../../support/database/shares.ts";

const PRICE = 40n;
const CREDIT = 1_000n;
const EPOCH = 5n;
const PER_DAY = 20;
const OUTPUT = Uint8Array.of(1, 2, 3);
const ALICE = { userReferences: ["alice"] };
const BOB = { userReferences: ["bob"] };
const REFUSED = { reason: "CHAIN_REJECTED", message: "refused" };
let database: Database;
let projectId: string;
let wallet: Sharable;
let bob: TestRecipient;
/** What the chain does with the next operation. */
let outcome: "lands" | "fails";
let chain: Map<string, Uint8Array>;
const signals = createLocalSignals();

beforeAll(async () => {
  database = await openTestDatabase();
  signals.subscribe(topics.outbox("localnet"), () => void endAll());
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, CREDIT);
  wallet = await sharable(database, projectId, { userReference: "alice" });
  bob = await recipientOf(database, projectId, "bob");
  outcome = "lands";
  chain = new Map();
});

/** Ends every queued operation as the chain does. */
async function endAll(): Promise<void> {
  const queued = await database.query<{ id: string; kind: string; subjectId: string }>(
    `SELECT id, kind, subject_id AS "subjectId" FROM chain_operation WHERE state = 'queued'`,
  );
  for (const { id, kind, subjectId } of queued) {
    if (outcome === "fails") {
      await share.failed(database, (await share.load(database, [subjectId])).get(subjectId)!, REFUSED);
      await failOperation(database, id, REFUSED.reason, REFUSED.message);
    } else {
      if (kind === "share")
        await database.query(
          `UPDATE dwallet_share SET state = 'AwaitingNetworkVerification', object_id = $2, tx_digest = 'sent' WHERE id = $1`,
          [subjectId, objectId()],
        );
      else {
        const objects = { getObjects: async () => chain };
        const accepting = createAcceptShareOperation(objects);
        const subject = (await accepting.load(database, [subjectId])).get(subjectId)!;
        onChain(subject.encryptedUserSecretKeyShareId, { KeyHolderSigned: subject.userOutputSignature });
        expect(await accepting.adopt(database, subject, REFUSED)).toBe(true);
      }
      await database.query("UPDATE chain_operation SET state = 'landed' WHERE id = $1", [id]);
    }
    signals.notify(topics.operation(subjectId));
  }
}

const share = createShareOperation({ sessionRequest: async () => undefined }, objectId());

function deps(bounds: object = {}) {
  return {
    database,
    signals,
    network: { name: "localnet", clock: systemClock },
    readerFor: () => ({ epoch: async () => ({ epoch: EPOCH }), getObjects: async () => chain }),
    dkgsPerDay: PER_DAY,
    usersMaxCount: 10,
    refundsPerDay: 1,
    sharePriceMicroUsd: PRICE,
    ...bounds,
  } as never;
}
const callerOf = (allowance?: object) => ({ origin: TEST_ORIGIN, projectId, allowance }) as never;
const time = () => ({ timeoutMs: 10_000, signal: new AbortController().signal });

const give = (request = wallet.request(bob), allowance: object | undefined = ALICE, bounds = {}) =>
  shareDWallet(deps(bounds), callerOf(allowance), create(ShareDWalletRequestSchema, request), time());

/** Puts the share's object on the chain. */
function onChain(shareId: string, state: Parameters<typeof shareContent>[1], address = bob.address): void {
  chain.set(shareId, shareContent({ shareId, dwalletId: wallet.objectId, address }, state));
}

function accept(shareId: string, allowance: object | undefined = BOB, signer = bob) {
  const request = create(AcceptShareRequestSchema, {
    dwalletId: wallet.objectId,
    encryptedUserSecretKeyShareId: shareId,
    userOutputSignature: ed25519.sign(OUTPUT, signer.secretKey),
  });
  return acceptShare(deps(), callerOf(allowance), request, time());
}

const remove = (allowance: object | undefined = ALICE) =>
  removeHolder({ database }, callerOf(allowance), {
    dwalletId: wallet.objectId,
    holderAddress: bob.address,
  } as never);

/** Settles the dWallet's share with this state on the chain. */
async function settle(state: Parameters<typeof shareContent>[1], refundsPerDay = 1): Promise<void> {
  const session = createShareSession("localnet", refundsPerDay);
  const open = await session.open(database, { after: "00000000-0000-0000-0000-000000000000", limit: 100 });
  const rows = await database.query<{ id: string }>("SELECT id FROM dwallet_share WHERE dwallet_id = $1", [
    wallet.rowId,
  ]);
  const own = open.filter(({ subjectId }) => rows.some(({ id }) => id === subjectId));
  expect(own).toHaveLength(1);
  for (const one of own) {
    onChain(one.objectId, state);
    expect(await session.settle(database, one, chain.get(one.objectId)!)).toBe(true);
  }
}

/** Whether a caller that is confined in this way may reserve a signature. */
async function mayReserve(allowance: object): Promise<boolean> {
  const { dwallet } = await lookBeforeReserving(database, {
    caller: callerOf(allowance),
    keyScope: { scope: projectId, network: "localnet" },
    dwalletId: wallet.objectId,
    idempotency: undefined,
  });
  return dwallet !== undefined;
}

const violation = (field: string) => ({ reason: "VALIDATION", violations: [{ field }] });

describe("a share costs its price once", () => {
  it("and a repeat with another ciphertext returns it, also if both come at once", async () => {
    const [first, second] = await Promise.all([give(), give()]);
    expect(second.id).toBe(first.id);
    expect((await give()).id).toBe(first.id);
    expect(await moneyOf(database, projectId)).toMatchObject({ balance: CREDIT - PRICE, differences: [] });
    const entries = "SELECT 1 FROM ledger_entry WHERE project_id = $1 AND kind = 'share'";
    expect(await database.query(entries, [projectId])).toHaveLength(1);
  });

  it("and nothing if the chain refuses it; the owner may then use the same consent again", async () => {
    outcome = "fails";
    const request = wallet.request(bob);
    await expect(give(request)).rejects.toMatchObject({ reason: "CHAIN_REJECTED" });
    expect(await moneyOf(database, projectId)).toMatchObject({ balance: CREDIT, differences: [] });
    outcome = "lands";
    expect((await give(request)).state).toBe("AwaitingNetworkVerification");
    expect(await moneyOf(database, projectId)).toMatchObject({ balance: CREDIT - PRICE, differences: [] });
  });

  it("and nothing if the network rejects it, within the project's refunds of the day", async () => {
    await give();
    await settle({ NetworkVerificationRejected: true });
    expect(await moneyOf(database, projectId)).toMatchObject({ balance: CREDIT, differences: [] });
    await give();
    await settle({ NetworkVerificationRejected: true });
    expect(await moneyOf(database, projectId)).toMatchObject({ balance: CREDIT - PRICE, differences: [] });
    const holders = await listHolders(database, callerOf(ALICE), wallet.objectId);
    expect(holders.map(({ state }) => state)).toEqual(Array(2).fill("NetworkVerificationRejected"));
  });

  it("and a repeat for another user is refused, whom it would not let sign", async () => {
    const { userReference: _, ...nobody } = wallet.request({ ...bob, userReference: undefined });
    const both = await Promise.allSettled([give(), give(nobody)]);
    expect(both.filter(({ status }) => status === "rejected")).toMatchObject([
      { reason: violation("user_reference") },
    ]);
    const again = await Promise.allSettled([give(), give(nobody)]);
    expect(again.map(({ status }) => status)).toEqual(both.map(({ status }) => status));
    expect(await moneyOf(database, projectId)).toMatchObject({ balance: CREDIT - PRICE });
  });

  it("which the project must have", async () => {
    await expect(give(undefined, ALICE, { sharePriceMicroUsd: CREDIT + 1n })).rejects.toMatchObject({
      reason: "INSUFFICIENT_CREDIT",
    });
    expect(await listHolders(database, callerOf(ALICE), wallet.objectId)).toEqual([]);
  });
});

describe("nothing is shared", () => {
  it.each<[string, () => object]>([
    ["recipient", () => ({ recipientAddress: objectId() })],
    ["dWallet", () => ({ dwalletId: objectId() })],
    ["ciphertext", () => ({ encryptedUserShareAndProof: new Uint8Array(randomBytes(50)) })],
    ["project", () => ({ projectId: crypto.randomUUID() })],
    ["user", () => ({ userReference: "mallory" })],
    ["epoch", () => ({ expiresEpoch: 6n })],
  ])("by a consent for another %s", async (_what, other) => {
    const asked = wallet.request(bob);
    const { encryptedUserShareAndProof } = asked;
    const { signature } = wallet.request(bob, { encryptedUserShareAndProof, ...other() });
    await expect(give({ ...asked, signature })).rejects.toMatchObject({ reason: "BAD_SIGNATURE" });
    expect(await moneyOf(database, projectId)).toMatchObject({ balance: CREDIT });
  });

  it("by its recipient, who has the share but not the owner's key", async () => {
    await sharedWith(database, wallet, bob);
    const carol = await recipientOf(database, projectId, "carol");
    const asked = wallet.request(carol);
    const { signature } = (await sharable(database, projectId)).request(carol, asked as never);
    await expect(give({ ...asked, signature }, BOB)).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });
    await expect(give({ ...asked, signature }, {})).rejects.toMatchObject({ reason: "BAD_SIGNATURE" });
  });

  it.each<[string, () => object, object]>([
    ["for another project", () => ({ projectId: crypto.randomUUID() }), violation("project_id")],
    ["that has expired", () => ({ expiresEpoch: EPOCH - 1n }), violation("expires_epoch")],
    [
      "for a key that nobody has",
      () => ({ recipientAddress: objectId() }),
      { reason: "ENCRYPTION_KEY_NOT_FOUND" },
    ],
    ["for another user's key", () => ({ userReference: "alice" }), { reason: "ENCRYPTION_KEY_NOT_FOUND" }],
  ])("with a consent %s", async (_what, signed, refused) => {
    await expect(give(wallet.request(bob, signed()))).rejects.toMatchObject(refused);
  });

  it("with its owner", async () => {
    const [keyId] = await database.query<{ id: string }>(
      "UPDATE encryption_key SET signer_address = $2 WHERE signer_address = $1 RETURNING id",
      [bob.address, wallet.ownerAddress],
    );
    expect(keyId).toBeDefined();
    const request = wallet.request({ ...bob, address: wallet.ownerAddress });
    await expect(give(request)).rejects.toMatchObject(violation("recipient_address"));
  });

  it.each([
    ["Left", "DWALLET_LEFT"],
    ["AwaitingKeyHolderSignature", "DWALLET_NOT_ACTIVE"],
  ])("of a dWallet that is %s", async (state, reason) => {
    await database.query("UPDATE dwallet SET state = $2 WHERE id = $1", [wallet.rowId, state]);
    await expect(give()).rejects.toMatchObject({ reason });
  });

  it("of a dWallet that begins to leave while the call waits for the chain", async () => {
    const request = create(ShareDWalletRequestSchema, wallet.request(bob));
    const readerFor = () => ({
      async epoch() {
        await database.query("UPDATE dwallet SET state = 'Leaving' WHERE id = $1", [wallet.rowId]);
        return { epoch: EPOCH };
      },
    });
    await expect(shareDWallet(deps({ readerFor }), callerOf(ALICE), request, time())).rejects.toMatchObject({
      reason: "DWALLET_LEFT",
    });
    expect(await moneyOf(database, projectId)).toMatchObject({ balance: CREDIT });
  });

  it("beyond eight holders, or beyond what a project may do in a day", async () => {
    const others = await Promise.all(Array.from({ length: 8 }, () => recipientOf(database, projectId)));
    for (const other of others.slice(1)) await sharedWith(database, wallet, other);
    await expect(give(undefined, ALICE, { dkgsPerDay: 7 })).rejects.toMatchObject({
      reason: "QUOTA_EXCEEDED",
    });
    await sharedWith(database, wallet, others[0]!, "AwaitingAcceptance");
    await expect(give()).rejects.toMatchObject({ reason: "TOO_MANY_HOLDERS", metadata: { maxCount: "8" } });
    expect(await moneyOf(database, projectId)).toMatchObject({ balance: CREDIT });
  });

  it("while its owner or its recipient is frozen", async () => {
    for (const reference of ["alice", "bob"]) {
      await freeze(reference, true);
      await expect(give()).rejects.toMatchObject({ reason: "USER_FROZEN", metadata: { reference } });
      await freeze(reference, false);
    }
  });
});

async function freeze(reference: string, isFrozen: boolean): Promise<void> {
  await database.query(
    "UPDATE project_user SET frozen_at = CASE WHEN $3 THEN now() END WHERE project_id = $1 AND reference = $2",
    [projectId, reference, isFrozen],
  );
}

describe("a recipient", () => {
  it("signs from the acceptance on, which a repeat returns", async () => {
    const { objectId: shareId } = await give();
    expect(await mayReserve(BOB)).toBe(false);
    onChain(shareId!, { NetworkVerificationCompleted: true });
    const accepted = await accept(shareId!);
    expect(accepted).toMatchObject({ state: "Accepted", acceptedAt: expect.any(Date) });
    expect(await accept(shareId!)).toEqual(accepted);
    expect(await mayReserve(BOB)).toBe(true);
    expect(await mayReserve({ userReferences: ["carol"] })).toBe(false);
    expect(await mayReserve({ ...BOB, dwalletIds: [objectId()] })).toBe(false);
  });

  it("accepts only what the network has verified, with the recipient's own signature", async () => {
    const { objectId: shareId } = await give();
    onChain(shareId!, { AwaitingNetworkVerification: true });
    await expect(accept(shareId!)).rejects.toMatchObject({ reason: "WRONG_STATE" });
    onChain(shareId!, { NetworkVerificationCompleted: true });
    const carol = await recipientOf(database, projectId, "carol");
    await expect(accept(shareId!, BOB, carol)).rejects.toMatchObject({ reason: "BAD_SIGNATURE" });
    await expect(accept(objectId())).rejects.toMatchObject({ reason: "HOLDER_NOT_FOUND" });
    await expect(accept(shareId!, { userReferences: ["carol"] })).rejects.toMatchObject({
      reason: "DWALLET_NOT_FOUND",
    });
    expect(await mayReserve(BOB)).toBe(false);
  });

  it("accepts nothing while it or the owner is frozen", async () => {
    const { objectId: shareId } = await give();
    onChain(shareId!, { NetworkVerificationCompleted: true });
    for (const reference of ["alice", "bob"]) {
      await freeze(reference, true);
      await expect(accept(shareId!)).rejects.toMatchObject({
        reason: "USER_FROZEN",
        metadata: { reference },
      });
      await freeze(reference, false);
    }
    expect((await accept(shareId!)).state).toBe("Accepted");
  });

  it("gets nothing from a fullnode that shows another share", async () => {
    const { objectId: shareId } = await give();
    onChain(shareId!, { NetworkVerificationCompleted: true }, objectId());
    await expect(accept(shareId!)).rejects.toThrow("is not the one of row");
  });

  it("does not sign while it is frozen", async () => {
    await sharedWith(database, wallet, bob);
    await freeze("bob", true);
    expect(await mayReserve(BOB)).toBe(false);
    await freeze("bob", false);
    expect(await mayReserve(BOB)).toBe(true);
  });

  it("sees itself among the holders, and no other one", async () => {
    await sharedWith(database, wallet, bob);
    await sharedWith(database, wallet, await recipientOf(database, projectId, "carol"));
    const seen = async (allowance?: object) =>
      (await listHolders(database, callerOf(allowance), wallet.objectId)).map(
        ({ userReference }) => userReference,
      );
    expect(await seen(ALICE)).toEqual(["carol", "bob"]);
    expect(await seen()).toEqual(["carol", "bob"]);
    expect(await seen(BOB)).toEqual(["bob"]);
    await expect(seen({ userReferences: ["dave"] })).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });
  });
});

describe("a removed holder", () => {
  it("signs no more, and the owner's old consent does not bring it back", async () => {
    const request = wallet.request(bob);
    const { objectId: shareId } = await give(request);
    onChain(shareId!, { NetworkVerificationCompleted: true });
    await accept(shareId!);
    expect(await remove()).toMatchObject({ state: "Removed", removedAt: expect.any(Date) });
    expect(await remove()).toMatchObject({ state: "Removed" });
    expect(await mayReserve(BOB)).toBe(false);
    await expect(give(request)).rejects.toMatchObject({ reason: "WRONG_STATE" });
    await expect(accept(shareId!)).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });
    await expect(accept(shareId!, ALICE)).rejects.toMatchObject({ reason: "WRONG_STATE" });
    expect((await give()).state).toBe("AwaitingNetworkVerification");
  });

  it("is removed by the owner alone, and not while the network verifies its share", async () => {
    await give();
    await expect(remove()).rejects.toMatchObject({ reason: "WRONG_STATE" });
    await settle({ NetworkVerificationCompleted: true });
    await expect(remove(BOB)).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });
    expect(await remove()).toMatchObject({ state: "Removed" });
  });

  it("is removed also if its share's id is older than that of an ended one, as clocks differ", async () => {
    const ended = await sharedWith(database, wallet, bob, "Removed");
    await sharedWith(database, wallet, bob);
    await database.query("UPDATE dwallet_share SET id = $2 WHERE id = $1", [
      ended.rowId,
      `ffffffff-ffff-7fff-bfff-${ended.rowId.slice(-12)}`,
    ]);
    await remove();
    expect(await mayReserve(BOB)).toBe(false);
  });

  it("is listed after all that still have a share, however many were removed since", async () => {
    await sharedWith(database, wallet, await recipientOf(database, projectId, "carol"));
    for (let count = 0; count < 50; count++) await sharedWith(database, wallet, bob, "Removed");
    const listed = await listHolders(database, callerOf(ALICE), wallet.objectId);
    expect(listed).toHaveLength(50);
    expect(listed[0]).toMatchObject({ userReference: "carol", state: "Accepted" });
  });

  it("still signs with a second key of its user that the owner has not removed", async () => {
    const second = await recipientOf(database, projectId, "bob");
    await sharedWith(database, wallet, bob);
    await sharedWith(database, wallet, second);
    await remove();
    expect(await mayReserve(BOB)).toBe(true);
  });
});
