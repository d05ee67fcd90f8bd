/** Each step of a dWallet's creation and acceptance changes its own row, among dWallets of other keys and states. */
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DWallet } from "../../../../src/protocol/chain/chain-structs.ts";
import { MixedUpAnswerError } from "../../../../src/protocol/chain/read-errors.ts";
import { sessionIdentifierPreimage } from "../../../../src/protocol/chain/session-identifier.ts";
import {
  acceptDWallet,
  createAcceptOperation,
  recordLostAcceptance,
} from "../../../../src/service/onboarding/accept-dwallet.ts";
import { createDkgOperation } from "../../../../src/service/onboarding/dkg-operation.ts";
import type { OnboardingDeps } from "../../../../src/service/onboarding/onboarding-deps.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../../../src/service/platform/coordination/topics.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { dkgRequested, shareAccepted } from "../../../support/chain/chain-bytes.ts";
import { changedRows } from "../../../support/database/changed-rows.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import {
  dwalletOf,
  objectId,
  projectWith,
  TEST_ORIGIN,
  type TestDWalletRow,
} from "../../../support/database/rows.ts";
import { createManualClock } from "../../../support/manual-clock.ts";

const REFUSED = { reason: "CHAIN_REJECTED", message: "no" };
let database: Database;
let projectId: string;
let own: TestDWalletRow;
let other: TestDWalletRow;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  await database.query("DELETE FROM chain_operation", []);
  projectId = await projectWith(database, 0n);
  own = await dwalletOf(database, projectId, { state: "Submitting" });
  other = await dwalletOf(database, projectId, { state: "Submitting" });
  await database.query("UPDATE dwallet SET updated_at = updated_at - interval '1 day'", []);
});

const changes = (action: () => Promise<unknown>) => changedRows(database, ["dwallet"], action);
const setState = ({ rowId }: TestDWalletRow, state: string) =>
  database.query("UPDATE dwallet SET state = $2 WHERE id = $1", [rowId, state]);
const stateOf = async ({ rowId }: TestDWalletRow) => {
  const [row] = await database.query<{ state: string }>("SELECT state FROM dwallet WHERE id = $1", [rowId]);
  return row!.state;
};

describe("a DKG", () => {
  const made = () => ({ dwalletId: objectId(), capId: objectId(), shareId: objectId() });
  let found: unknown;
  const operation = createDkgOperation({ sessionRequest: async () => found as never }, objectId());
  const load = async () => (await operation.load(database, [own.rowId, other.rowId])).get(own.rowId)!;
  const transaction = async (change?: { isPublic: boolean }) => {
    const { sessionBytes, senderAddress, encryptionKeyAddress: ownerAddress } = await load();
    const preimage = sessionIdentifierPreimage(sessionBytes, senderAddress);
    const ids = made();
    const own = dkgRequested(preimage, { ...ids, ownerAddress }, change);
    const events = [dkgRequested(new Uint8Array(32), made()), own];
    return { ids, transaction: { digest: "digest", version: 1n, events } };
  };

  it("is for the encryption key of its own dWallet", async () => {
    const rows = await operation.load(database, [own.rowId, other.rowId]);
    for (const { rowId } of [own, other]) {
      const [key] = await database.query<{ signer: string }>(
        `SELECT k.signer_address AS signer FROM encryption_key k JOIN dwallet d ON d.encryption_key_id = k.id
         WHERE d.id = $1`,
        [rowId],
      );
      expect(rows.get(rowId)).toMatchObject({ id: rowId, encryptionKeyAddress: key!.signer });
    }
    expect(rows.size).toBe(2);
  });

  it("has a size that covers its message, its share and its output", async () => {
    const subject = await load();
    const parts = { userDkgMessage: 100, encryptedUserShareAndProof: 2_000, userPublicOutput: 30_000 };
    const sized = Object.entries(parts).map(([name, length]) => [name, new Uint8Array(length)] as const);
    expect(operation.sizeBytes({ ...subject, ...Object.fromEntries(sized) })).toBe(32_100 + 500);
  });

  it("that landed has the ids of its own session, and only once", async () => {
    const { ids, transaction: landed } = await transaction();
    const subject = await load();
    const columns = ["cap_id", "encrypted_user_secret_key_share_id", "object_id", "state", "tx_digest"];
    expect(await changes(() => operation.landed(database, [subject], landed))).toEqual({
      dwallet: { [own.rowId]: [...columns, "updated_at"] },
    });
    const [row] = await database.query(
      `SELECT object_id AS "dwalletId", cap_id AS "capId", encrypted_user_secret_key_share_id AS "shareId", tx_digest
       FROM dwallet WHERE id = $1`,
      [own.rowId],
    );
    expect(row).toEqual({ ...ids, tx_digest: "digest" });
    const again = (await transaction()).transaction;
    expect(await changes(() => operation.landed(database, [subject], again))).toEqual({});
  });

  it("takes neither another session nor one without an encrypted share", async () => {
    const subject = await load();
    const { transaction: landed } = await transaction();
    for (const events of [
      [],
      landed.events.slice(0, 1),
      (await transaction({ isPublic: true })).transaction.events,
    ])
      await expect(operation.landed(database, [subject], { ...landed, events })).rejects.toThrow(
        MixedUpAnswerError,
      );
    expect(await stateOf(own)).toBe("Submitting");
  });

  it("that the chain knows already continues with its session", async () => {
    const subject = await load();
    found = undefined;
    expect(
      await changes(async () => expect(await operation.adopt(database, subject, REFUSED)).toBe(false)),
    ).toEqual({});
    found = (await transaction()).transaction;
    expect(await operation.adopt(database, subject, REFUSED)).toBe(true);
    expect(await stateOf(own)).toBe("AwaitingNetworkDKGVerification");
  });

  it("that the chain refuses fails, unless it has landed", async () => {
    const subject = await load();
    const changed = await changes(() => operation.failed(database, subject, REFUSED));
    expect(Object.keys(changed["dwallet"]!)).toEqual([own.rowId]);
    expect(await stateOf(own)).toBe("Failed");
    const landed = (await operation.load(database, [other.rowId])).get(other.rowId)!;
    await setState(other, "AwaitingNetworkDKGVerification");
    expect(await changes(() => operation.failed(database, landed, REFUSED))).toEqual({});
  });
});

describe("an acceptance", () => {
  let state: object | undefined;
  const operation = createAcceptOperation({
    getObjects: async ([id]: readonly string[]) =>
      new Map(state === undefined ? [] : [[id!, onChain(id!, state)]]),
  } as never);
  const load = async () => (await operation.load(database, [own.rowId, other.rowId])).get(own.rowId)!;
  beforeEach(async () => {
    await database.query(
      `UPDATE dwallet SET state = 'AwaitingKeyHolderSignature', user_output_signature = '\\x01',
         encrypted_user_secret_key_share_id = $2 WHERE id = ANY($1::uuid[])`,
      [[own.rowId, other.rowId], objectId()],
    );
  });

  it("has the size of its ids and its signature, with room for the call", async () => {
    expect(operation.sizeBytes(await load())).toBeGreaterThan(2 * 32 + 64);
  });

  it("that landed makes its own dWallet Active, with the digest of the first transaction", async () => {
    const subject = await load();
    const landed = (digest: string, ...dwalletIds: string[]) =>
      operation.landed(database, [subject], { digest, version: 1n, events: dwalletIds.map(shareAccepted) });
    await expect(landed("digest", other.objectId)).rejects.toThrow(MixedUpAnswerError);
    expect(await changes(() => landed("digest", other.objectId, own.objectId))).toEqual({
      dwallet: { [own.rowId]: ["accept_tx_digest", "state", "updated_at"] },
    });
    await landed("another", own.objectId);
    const [row] = await database.query("SELECT accept_tx_digest AS digest FROM dwallet WHERE id = $1", [
      own.rowId,
    ]);
    expect(row).toEqual({ digest: "digest" });
    for (const gone of ["Leaving", "Left"]) {
      await setState(own, gone);
      expect(await changes(() => landed("digest", own.objectId))).toEqual({});
    }
  });

  it("counts as landed once the chain shows the dWallet as Active, and changes nothing before", async () => {
    const subject = await load();
    const adopt = () => operation.adopt(database, subject, REFUSED);
    for (const shown of [undefined, { AwaitingKeyHolderSignature: [1] }]) {
      state = shown;
      expect(await changes(async () => expect(await adopt()).toBe(false))).toEqual({});
    }
    state = { Active: [1] };
    expect(await changes(async () => expect(await adopt()).toBe(true))).toEqual({
      dwallet: { [own.rowId]: ["state", "updated_at"] },
    });
    expect(await changes(() => operation.failed(database, subject, REFUSED))).toEqual({});
  });

  it("that a restored database lacks is recorded for its dWallet on its network alone", async () => {
    const signature = new Uint8Array(64).fill(2);
    const [share] = await database.query<{ id: string }>(
      "SELECT encrypted_user_secret_key_share_id AS id FROM dwallet WHERE id = $1",
      [own.rowId],
    );
    const record = (network: string, dwalletId: string, shareId = share!.id) =>
      recordLostAcceptance(database, network, { dwalletId, shareId, userOutputSignature: signature });
    expect(await record("testnet", own.objectId)).toBeUndefined();
    expect(await record("localnet", objectId())).toBeUndefined();
    // That of another user to whom the owner has given a share.
    expect(await record("localnet", own.objectId, objectId())).toBeUndefined();
    expect(await changes(async () => expect(await record("localnet", own.objectId)).toBe(own.rowId))).toEqual(
      { dwallet: { [own.rowId]: ["user_output_signature"] } },
    );
  });

  describe("by its user", () => {
    const OUTPUT = new Uint8Array(40).fill(6);
    let user: Ed25519Keypair;
    let shareId: string;
    beforeEach(async () => {
      user = new Ed25519Keypair();
      shareId = objectId();
      await database.query(
        `UPDATE dwallet SET signer_public_key = $2, public_output = $3, encrypted_user_secret_key_share_id = $4,
           user_output_signature = NULL WHERE id = $1`,
        [own.rowId, user.getPublicKey().toRawBytes(), OUTPUT, shareId],
      );
    });
    const notified: string[] = [];
    /** Accepts the share. The time limit is over at once, so an acceptance that was queued ends with DEADLINE. */
    const accept = async (change: { share?: string; signer?: Ed25519Keypair; output?: Uint8Array } = {}) => {
      const signals = createLocalSignals();
      const deps = {
        database,
        network: { name: "localnet", clock: createManualClock() },
        signals: { ...signals, notify: (topic: string) => void notified.push(topic) },
        readerFor: () => ({ getObjects: async () => new Map() }),
      };
      const request = {
        dwalletId: own.objectId,
        encryptedUserSecretKeyShareId: change.share ?? shareId,
        userOutputSignature: await (change.signer ?? user).sign(change.output ?? OUTPUT),
      };
      const time = { timeoutMs: 0, signal: new AbortController().signal };
      const caller = { projectId, origin: TEST_ORIGIN };
      return acceptDWallet(deps as unknown as OnboardingDeps, caller, request as never, time).then(
        ({ state: accepted }) => accepted,
        (error: unknown) => (error as { reason: string }).reason,
      );
    };
    const queued = () =>
      database.query("SELECT state FROM chain_operation WHERE kind = 'accept' AND subject_id = $1", [
        own.rowId,
      ]);

    it("is queued with the user's signature, and again after the chain has refused it", async () => {
      expect(await accept()).toBe("DEADLINE");
      expect(await queued()).toEqual([{ state: "queued" }]);
      expect(notified).toEqual([topics.outbox("localnet")]);
      await database.query(
        "UPDATE chain_operation SET state = 'failed', failure_reason = 'x', failure_detail = ''",
        [],
      );
      await accept();
      expect(await queued()).toEqual([{ state: "queued" }]);
    });

    it("is refused in another state, before the network has an output, or for another share or signature", async () => {
      expect(await accept({ share: objectId() })).toBe("VALIDATION");
      expect(await accept({ signer: new Ed25519Keypair() })).toBe("BAD_SIGNATURE");
      expect(await accept({ output: new Uint8Array(40) })).toBe("BAD_SIGNATURE");
      await setState(own, "AwaitingNetworkDKGVerification");
      expect(await accept()).toBe("WRONG_STATE");
      await database.query(
        "UPDATE dwallet SET state = 'AwaitingKeyHolderSignature', public_output = NULL, public_key = NULL WHERE id = $1",
        [own.rowId],
      );
      expect(await accept()).toBe("WRONG_STATE");
      expect(await queued()).toEqual([]);
    });

    it("is repeated without an effect once the dWallet is Active", async () => {
      await setState(own, "Active");
      expect(await accept()).toBe("Active");
      expect(await queued()).toEqual([]);
    });
  });
});

/** A dWallet's object in one state. */
function onChain(id: string, state: object): Uint8Array {
  const table = { id: objectId(), size: 0 };
  return DWallet.serialize({
    ...{ id, created_at_epoch: 0, curve: 0, public_user_secret_key_share: null, dwallet_cap_id: objectId() },
    ...{ dwallet_network_encryption_key_id: objectId(), is_imported_key_dwallet: false },
    ...{ encrypted_user_secret_key_shares: table, sign_sessions: table, state },
  } as never).toBytes();
}
