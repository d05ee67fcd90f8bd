/** Each change that consumers care about writes one event, and a repeat of the change writes none. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { RemoveHolderRequest } from "../../../../gen/proto/tss/v1/sharing_pb.ts";
import { DWallet } from "../../../../src/protocol/chain/chain-structs.ts";
import { creditDeposits } from "../../../../src/service/billing/deposits/credit-deposits.ts";
import { readEvents } from "../../../../src/service/events/read-events.ts";
import { createAcceptOperation } from "../../../../src/service/onboarding/accept-dwallet.ts";
import {
  markDWalletHeld,
  markDWalletLeft,
} from "../../../../src/service/onboarding/custody/custody-state.ts";
import { failDWallet, recordDWalletState } from "../../../../src/service/onboarding/dwallet-session.ts";
import { removeHolder } from "../../../../src/service/onboarding/sharing/holders.ts";
import { markAccepted } from "../../../../src/service/onboarding/sharing/share-state.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { endReservationOf } from "../../../../src/service/signing/lost-sign-requests.ts";
import { createSimMpc } from "../../../sim/sim-mpc.ts";
import { shareAccepted } from "../../../support/chain/chain-bytes.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { recordAddress } from "../../../support/database/deposit-rows.ts";
import { SUI, testDeposits } from "../../../support/database/deposits.ts";
import {
  dwalletOf,
  objectId,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  type TestDWalletRow,
} from "../../../support/database/rows.ts";
import { recipientOf, sharable, sharedWith, type TestRecipient } from "../../../support/database/shares.ts";

let database: Database;
let projectId: string;
let output: Uint8Array;

beforeAll(async () => {
  database = await openTestDatabase();
  const made = await createSimMpc().dkg({ sessionId: new Uint8Array(32) } as never);
  if (made.kind !== "completed") throw new Error("the DKG was rejected");
  output = made.output;
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 1_000n);
});

/** The events of the project, as consumers see them. */
async function events() {
  const page = await readEvents(database, { projectId, after: undefined, kinds: undefined, count: 200 });
  return page.events.map(({ kind, subject, userReference, data }) => ({
    ...{ kind, subject, userReference },
    data: JSON.parse(data) as Record<string, string>,
  }));
}

describe("a sign request", () => {
  const steps = () => signSteps(database, createLocalSignals());

  async function reserved(presignCount = 1) {
    const dwallet = await dwalletOf(database, projectId, { userReference: "alice" });
    const [presignId] = await readyPresigns(database, dwallet.bucket, presignCount);
    return { dwallet, presignId: presignId!, id: await steps().reserve(projectId, dwallet) };
  }
  const ended = (kind: string, id: string, dwallet: TestDWalletRow, reason?: string) => [
    {
      ...{ kind, subject: id, userReference: "alice" },
      data: { sign_request_id: id, dwallet_id: dwallet.objectId, ...(reason !== undefined && { reason }) },
    },
  ];

  it("has an event when it completes, and none before", async () => {
    const { dwallet, id } = await reserved();
    await steps().submit(projectId, id);
    await steps().land(id);
    expect(await events()).toEqual([]);
    await steps().complete(id, dwallet);
    await steps().complete(id, dwallet);
    expect(await events()).toEqual(ended("sign.completed", id, dwallet));
  });

  it.each([
    ["the network rejects it", "NETWORK_REJECTED"],
    ["the chain refuses it", "CHAIN_REJECTED"],
    ["its reservation expires", "RESERVATION_EXPIRED"],
    ["a restored database ends its reservation", "RESERVATION_EXPIRED"],
  ])("has an event with the reason when %s", async (how, reason) => {
    const { dwallet, id } = await reserved();
    if (how === "its reservation expires") await steps().expire(id);
    else if (how === "a restored database ends its reservation") {
      const [row] = await database.query<{ presignId: string }>(
        `SELECT presign_id AS "presignId" FROM sign_request WHERE id = $1`,
        [id],
      );
      await endReservationOf(database, row!.presignId);
    } else {
      await steps().submit(projectId, id);
      if (reason === "CHAIN_REJECTED") {
        await steps().refuse(id);
        await steps().refuse(id);
      } else {
        await steps().land(id);
        await steps().reject(id);
      }
    }
    expect(await events()).toEqual(ended("sign.failed", id, dwallet, reason));
  });
});

describe("a dWallet", () => {
  const CAP = objectId();
  const onChain = (row: TestDWalletRow, state: object): Uint8Array => {
    const table = { id: objectId(), size: 0 };
    return DWallet.serialize({
      id: row.objectId,
      created_at_epoch: 0,
      curve: 0,
      public_user_secret_key_share: null,
      dwallet_cap_id: CAP,
      dwallet_network_encryption_key_id: row.bucket.networkEncryptionKeyId,
      is_imported_key_dwallet: false,
      encrypted_user_secret_key_shares: table,
      sign_sessions: table,
      state: state as never,
    }).toBytes();
  };
  const made = (state: string) => dwalletOf(database, projectId, { state, userReference: "bob" });
  const changed = (kind: string, row: TestDWalletRow, reason?: string) => ({
    ...{ kind, subject: row.objectId, userReference: "bob" },
    data: { dwallet_id: row.objectId, ...(reason !== undefined && { reason }) },
  });

  it("has an event when its share is accepted, whoever notices first, and one when it leaves and returns", async () => {
    const row = await made("AwaitingNetworkDKGVerification");
    const record = (state: object) => recordDWalletState(database, row.rowId, onChain(row, state), 20);
    await record({ AwaitingKeyHolderSignature: output });
    expect(await events()).toEqual([]);
    const operation = createAcceptOperation({ getObjects: async () => new Map() });
    await database.query(
      `UPDATE dwallet SET user_output_signature = '\\x01', encrypted_user_secret_key_share_id = $2 WHERE id = $1`,
      [row.rowId, objectId()],
    );
    const subject = (await operation.load(database, [row.rowId])).get(row.rowId)!;
    const landing = { digest: "digest", version: 1n, events: [shareAccepted(row.objectId)] };
    await operation.landed(database, [subject], landing);
    await operation.landed(database, [subject], landing);
    await record({ Active: output });
    expect(await events()).toEqual([changed("dwallet.active", row)]);
    await markDWalletLeft(database, row.rowId, { version: 1n });
    await markDWalletLeft(database, row.rowId, { version: 1n });
    await markDWalletHeld(database, row.rowId, 2n);
    await markDWalletHeld(database, row.rowId, 2n);
    expect((await events()).map(({ kind }) => kind)).toEqual([
      "dwallet.active",
      "dwallet.left",
      "dwallet.active",
    ]);
  });

  it("has an event when a look at the chain shows that it is Active", async () => {
    const row = await made("AwaitingNetworkDKGVerification");
    for (let look = 0; look < 2; look++)
      await recordDWalletState(database, row.rowId, onChain(row, { Active: output }), 20);
    expect(await events()).toEqual([changed("dwallet.active", row)]);
  });

  it("has an event with the reason when the network refuses its DKG, if it has an object that callers know", async () => {
    const row = await made("AwaitingNetworkDKGVerification");
    const failure = {
      from: "AwaitingNetworkDKGVerification",
      to: "NetworkRejectedDKGVerification",
      reason: "NETWORK_REJECTED",
    } as const;
    await failDWallet(database, row.rowId, failure);
    await failDWallet(database, row.rowId, failure);
    const unknown = await made("Submitting");
    await database.query("UPDATE dwallet SET object_id = NULL WHERE id = $1", [unknown.rowId]);
    await failDWallet(database, unknown.rowId, {
      from: "Submitting",
      to: "Failed",
      reason: "CHAIN_REJECTED",
    });
    expect(await events()).toEqual([changed("dwallet.failed", row, "NETWORK_REJECTED")]);
  });
});

describe("a share of a dWallet", () => {
  it("has an event when its recipient's acceptance lands, and one when the holder is removed", async () => {
    const wallet = await sharable(database, projectId, { userReference: "alice" });
    const bob = await recipientOf(database, projectId, "bob");
    const { rowId } = await sharedWith(database, wallet, bob, "AwaitingAcceptance");
    const named = (kind: string, holder: TestRecipient) => ({
      ...{ kind, subject: wallet.objectId, userReference: "alice" },
      data: {
        dwallet_id: wallet.objectId,
        holder_address: holder.address,
        ...(holder.userReference !== undefined && { holder_user: holder.userReference }),
      },
    });
    for (let time = 0; time < 2; time++) await markAccepted(database, rowId, "digest");
    expect(await events()).toEqual([named("dwallet.shared", bob)]);
    const remove = (holder: TestRecipient) =>
      removeHolder({ database }, { projectId, origin: TEST_ORIGIN, allowance: undefined } as never, {
        ...({ dwalletId: wallet.objectId, holderAddress: holder.address } as RemoveHolderRequest),
      });
    for (let time = 0; time < 2; time++) await remove(bob);
    await markAccepted(database, rowId, "digest");
    const ended = [named("dwallet.shared", bob), named("dwallet.holder_removed", bob)];
    expect(await events()).toEqual(ended);

    const nobody = await recipientOf(database, projectId);
    await sharedWith(database, wallet, nobody, "AwaitingAcceptance");
    await remove(nobody);
    expect(await events()).toEqual([...ended, named("dwallet.holder_removed", nobody)]);
  });
});

describe("a deposit", () => {
  it("has an event with its value when it is credited, also the one of a reference", async () => {
    const deposits = testDeposits(database, { SUI: "1", IKA: undefined });
    const [id, address] = [newId(), objectId()];
    await recordAddress(database, { projectId, address, reference: "user-42" });
    await database.query(
      `INSERT INTO deposit (id, project_id, network, address, tx_digest, coin_type, amount)
       VALUES ($1, $2, 'localnet', $3, 'digest', $4, 2000000000)`,
      [id, projectId, address, SUI.coinType],
    );
    await creditDeposits(database, TEST_ORIGIN, deposits, projectId);
    await creditDeposits(database, TEST_ORIGIN, deposits, projectId);
    expect(await events()).toEqual([
      {
        ...{ kind: "deposit.credited", subject: id, userReference: null },
        data: {
          ...{ deposit_id: id, value_micro_usd: "2000000", amount: "2000000000", coin_type: SUI.coinType },
          ...{ tx_digest: "digest", address, reference: "user-42" },
        },
      },
    ]);
  });
});
