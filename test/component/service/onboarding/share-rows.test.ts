/** A share's operations record their own outcome alone, and a restored database finds the shares that it lacks. */
import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { SharePaid } from "../../../../src/localnet/contracts/treasury/treasury-events.ts";
import type { ChainEvent } from "../../../../src/service/chain/operation.ts";
import { createAcceptShareOperation } from "../../../../src/service/onboarding/sharing/accept-share.ts";
import { createShareOperation } from "../../../../src/service/onboarding/sharing/share-operation.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import {
  createShareAcceptanceRebuilder,
  createShareRebuilder,
} from "../../../../src/service/restore/rebuild-shares.ts";
import { changedRows } from "../../../support/database/changed-rows.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { moneyOf, objectId, projectWith } from "../../../support/database/rows.ts";
import { recipientOf, type Sharable, sharable, sharedWith } from "../../../support/database/shares.ts";

const CIPHERTEXT = Uint8Array.of(1);
let database: Database;
let projectId: string;
let wallet: Sharable;
let own: { readonly rowId: string; readonly shareId: string };
let other: { readonly rowId: string; readonly shareId: string };

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 0n);
  wallet = await sharable(database, projectId);
  own = await sharedWith(database, wallet, await recipientOf(database, projectId, "bob"), "Submitting");
  other = await sharedWith(database, wallet, await recipientOf(database, projectId, "carol"), "Submitting");
  await database.query("UPDATE dwallet_share SET encrypted_user_share_and_proof = '\\x02' WHERE id = $1", [
    other.rowId,
  ]);
});

let found: unknown;
const operation = createShareOperation({ sessionRequest: async () => found as never }, objectId());
const load = async () => (await operation.load(database, [own.rowId, other.rowId])).get(own.rowId)!;
const changes = (action: () => Promise<unknown>) =>
  changedRows(database, ["dwallet_share", "dwallet", "project"], action);
const landed = (...events: ChainEvent[]) => ({ digest: "digest", version: 1n, events });

/** The event of a share's request, as Ika's package emits it. */
function shareRequested(dwalletId: string, ciphertext: Uint8Array, shareId = objectId()): ChainEvent {
  const { EncryptedShareVerificationRequestEvent } = CoordinatorInnerModule;
  const bcs = SessionsManagerModule.DWalletSessionEvent(EncryptedShareVerificationRequestEvent)
    .serialize({
      epoch: "9",
      session_object_id: objectId(),
      session_type: { User: true },
      session_sequence_number: "7",
      session_identifier_preimage: new Uint8Array(32),
      event_data: {
        encrypted_centralized_secret_share_and_proof: ciphertext,
        public_output: [4],
        dwallet_id: dwalletId,
        encryption_key: [1],
        encryption_key_id: objectId(),
        encrypted_user_secret_key_share_id: shareId,
        source_encrypted_user_secret_key_share_id: objectId(),
        dwallet_network_encryption_key_id: objectId(),
        curve: 0,
      },
    } as never)
    .toBytes();
  const ika = objectId();
  const name = "coordinator_inner::EncryptedShareVerificationRequestEvent";
  return { type: `${ika}::sessions_manager::DWalletSessionEvent<${ika}::${name}>`, bcs };
}

function shareAccepted(shareId: string): ChainEvent {
  const bcs = CoordinatorInnerModule.AcceptEncryptedUserShareEvent.serialize({
    encrypted_user_secret_key_share_id: shareId,
    dwallet_id: wallet.objectId,
    user_output_signature: [7],
    encryption_key_id: objectId(),
    encryption_key_address: objectId(),
  }).toBytes();
  return { type: `${objectId()}::coordinator_inner::AcceptEncryptedUserShareEvent`, bcs };
}

it("a share that landed has the object of its own ciphertext and dWallet, and only once", async () => {
  const subject = await load();
  const shareId = objectId();
  const foreign = [shareRequested(wallet.objectId, Uint8Array.of(2)), shareRequested(objectId(), CIPHERTEXT)];
  await expect(operation.landed(database, [subject], landed(...foreign))).rejects.toThrow(
    "requested no share",
  );
  const mine = landed(...foreign, shareRequested(wallet.objectId, CIPHERTEXT, shareId));
  expect(await changes(() => operation.landed(database, [subject], mine))).toEqual({
    dwallet_share: { [own.rowId]: ["object_id", "state", "tx_digest", "updated_at"] },
  });
  const again = landed(shareRequested(wallet.objectId, CIPHERTEXT));
  expect(await changes(() => operation.landed(database, [subject], again))).toEqual({});
  found = mine;
  expect(await operation.adopt(database, subject, REFUSED)).toBe(true);
  found = undefined;
  expect(await operation.adopt(database, subject, REFUSED)).toBe(false);
});

const REFUSED = { reason: "CHAIN_REJECTED", message: "refused" };

it("a share that never lands fails alone, and tells that the dWallet has left the Treasury", async () => {
  const subject = await load();
  expect(await changes(() => operation.failed(database, subject, REFUSED))).toMatchObject({
    dwallet_share: { [own.rowId]: expect.arrayContaining(["failure_reason", "refunded", "state"]) },
  });
  const state = async () =>
    (await database.query<{ state: string }>("SELECT state FROM dwallet WHERE id = $1", [wallet.rowId]))[0]!
      .state;
  expect(await state()).toBe("Active");
  const abort = { module: "custody", code: 1 };
  const second = (await operation.load(database, [other.rowId])).get(other.rowId)!;
  await operation.failed(database, second, { ...REFUSED, abort });
  expect(await state()).toBe("Left");
  expect(await moneyOf(database, projectId)).toMatchObject({ balance: 0n, differences: [] });
});

it("an acceptance that landed is its own share's, and lets no other user sign", async () => {
  await database.query("UPDATE dwallet_share SET state = 'AwaitingAcceptance' WHERE dwallet_id = $1", [
    wallet.rowId,
  ]);
  const accepting = createAcceptShareOperation({ getObjects: async () => new Map() });
  await database.query("UPDATE dwallet_share SET user_output_signature = '\\x07' WHERE id = $1", [own.rowId]);
  const subject = (await accepting.load(database, [own.rowId])).get(own.rowId)!;
  const foreign = landed(shareAccepted(other.shareId));
  await expect(accepting.landed(database, [subject], foreign)).rejects.toThrow("accepted no share");
  await accepting.landed(database, [subject], landed(shareAccepted(own.shareId)));
  const rows = "SELECT holder_users AS users FROM dwallet WHERE id = $1";
  expect(await database.query(rows, [wallet.rowId])).toEqual([{ users: ["bob"] }]);
  expect(await changes(() => accepting.failed(database, subject, REFUSED))).toEqual({});
  expect(await accepting.adopt(database, subject, REFUSED)).toBe(false);
});

it("a restored database finds the shares that it has, and reports the others", async () => {
  const paid = (reference: string): ChainEvent => ({
    type: `${objectId()}::treasury::SharePaid`,
    bcs: SharePaid.serialize({
      treasury_id: objectId(),
      operator_cap_id: objectId(),
      dwallet_id: wallet.objectId,
      recipient: objectId(),
      ika: 1,
      sui: 1,
      request_ref: new TextEncoder().encode(reference),
    }).toBytes(),
  });
  const events = landed(paid(own.rowId), paid(newId()), paid("another service's"));
  expect(await createShareRebuilder().rebuild(database, events, {} as never)).toMatchObject({
    subjectIds: [own.rowId],
    unrecoverable: Array(2).fill({ what: "share", id: wallet.objectId }),
  });
  const accepted = landed(shareAccepted(own.shareId), shareAccepted(objectId()));
  const rebuilder = createShareAcceptanceRebuilder("localnet");
  expect(await rebuilder.rebuild(database, accepted, {} as never)).toEqual({
    subjectIds: [own.rowId],
    unrecoverable: [],
  });
});
