/** Each step of a dWallet's consent changes its own rows, and takes only its own event on the chain. */
import { bcs } from "@mysten/sui/bcs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MixedUpAnswerError } from "../../../../src/protocol/chain/read-errors.ts";
import type { ChainEvent, LandedTransaction } from "../../../../src/service/chain/operation.ts";
import { createConsentOperation } from "../../../../src/service/onboarding/custody/consent-operation.ts";
import { newestConsent } from "../../../../src/service/onboarding/custody/consent-row.ts";
import { storeConsent } from "../../../../src/service/onboarding/custody/consents.ts";
import { queueExit } from "../../../../src/service/onboarding/custody/custody-loop.ts";
import {
  markDWalletHeld,
  markDWalletLeft,
  noteLeftVersion,
  readCustody,
  readHeld,
} from "../../../../src/service/onboarding/custody/custody-state.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { custodyObjects } from "../../../support/chain/treasury-bytes.ts";
import { changedRows } from "../../../support/database/changed-rows.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import {
  dwalletOf,
  objectId,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  type TestDWalletRow,
} from "../../../support/database/rows.ts";

const TREASURY = objectId();
const RECIPIENT = objectId();
const STATE = ["state", "updated_at"];
/** What the fullnode answers. */
const chain = { lastChange: undefined as string | undefined, outcome: undefined as unknown };
let database: Database;
let projectId: string;
let own: TestDWalletRow;
let other: TestDWalletRow;
let operation: ReturnType<typeof createConsentOperation>;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  await database.query("DELETE FROM treasury_consent", []);
  Object.assign(chain, { lastChange: undefined, outcome: undefined });
  projectId = await projectWith(database, 0n);
  other = await dwalletOf(database, projectId);
  own = await dwalletOf(database, projectId);
  await database.query("UPDATE dwallet SET updated_at = updated_at - interval '1 day'", []);
  operation = createConsentOperation({
    treasuryId: TREASURY,
    reader: {
      getObjects: async () =>
        new Map([
          ...custodyObjects(TREASURY, { dwalletId: own.objectId, owner: objectId() }),
          [own.objectId, new Uint8Array()],
        ]),
      ownedObjects: async ([id]) =>
        new Map([[id!, { objectId: id!, version: "1", digest: "d", lastChange: chain.lastChange }]]),
      transaction: async () => chain.outcome as never,
    },
  });
});

describe("a consent changes only its dWallet:", () => {
  it("its storing, in the project and state that may", async () => {
    const stranger = await projectWith(database, 0n);
    expect(await changes(() => store(own, "leave", stranger))).toEqual({});
    expect(await changes(() => store(own, "leave"))).toMatchObject({
      dwallet: { [own.rowId]: STATE },
    });
    // One consent at a time, and none of a dWallet that is leaving.
    expect(await store(own, "leave")).toBeUndefined();
    expect(await store(own, "refuse")).toBeUndefined();
    const changed = await changes(() => store(other, "refuse"));
    expect(Object.keys(changed)).toEqual(["treasury_consent"]);
    expect(await operations()).toHaveLength(1);
  });

  it("a refusal, in no state of a dWallet that is leaving or has left", async () => {
    for (const state of ["Leaving", "Left"]) {
      await database.query("UPDATE dwallet SET state = $2 WHERE id = $1", [own.rowId, state]);
      expect(await changes(() => store(own, "refuse"))).toEqual({});
      expect(await store(own, "leave")).toBeUndefined();
    }
    expect(await operations()).toEqual([]);
  });

  it("the queueing of the network's oldest exit without open sign requests", async () => {
    const first = (await store(own, "leave"))!;
    const second = (await store(other, "leave"))!;
    await age();
    expect(await changes(() => queueExit(database, "testnet"))).toEqual({});
    const request = await openRequest(own);
    expect(await changes(() => queueExit(database, "localnet"))).toEqual({
      treasury_consent: { [second]: STATE },
    });
    expect(await operations()).toContain(second);
    expect(await queueExit(database, "localnet")).toBe(false);
    for (const status of ["queued", "submitted"]) {
      await database.query("UPDATE sign_request SET status = $2, user_sign_message = '' WHERE id = $1", [
        request,
        status,
      ]);
      expect(await queueExit(database, "localnet")).toBe(false);
    }
    // An open request does not hold up an exit for longer than the longest wait.
    const waited = (minutes: number) =>
      database.query(
        "UPDATE treasury_consent SET created_at = now() - $1::float8 * interval '1 minute' WHERE id = $2",
        [minutes, first],
      );
    await waited(9);
    expect(await queueExit(database, "localnet")).toBe(false);
    await waited(11);
    expect(await queueExit(database, "localnet")).toBe(true);
  });

  it("the oldest of several exits that may go is the first", async () => {
    const first = (await store(own, "leave"))!;
    const second = (await store(other, "leave"))!;
    await queueExit(database, "localnet");
    expect(await operations()).toContain(first);
    expect(await operations()).not.toContain(second);
  });

  it("its landing", async () => {
    const row = await queued(own, "leave");
    await queued(other, "leave");
    await age();
    expect(await changes(() => operation.landed(database, [row], landed(exit())))).toEqual({
      treasury_consent: { [row.id]: ["state", "tx_digest", "updated_at"] },
      dwallet: { [own.rowId]: ["leave_tx_digest", "left_version", ...STATE] },
    });
    expect(await changes(() => operation.landed(database, [row], landed(exit())))).toEqual({});
    const refused = await queued(await dwalletOf(database, projectId), "refuse");
    const event = refusal({ dwallet: refused.dwalletId });
    expect(await changes(() => operation.landed(database, [refused], landed(event)))).toMatchObject({
      treasury_consent: { [refused.id]: ["state", "tx_digest", "updated_at"] },
    });
    expect(await stateOf({ ...own, rowId: refused.dwalletRowId })).toBe("Active");
  });

  it("its failure, after which the dWallet signs again unless the Treasury does not hold it", async () => {
    const row = await queued(own, "leave");
    await queued(other, "leave");
    await age();
    const failure = { reason: "CHAIN_REJECTED", message: "no" };
    expect(await changes(() => operation.failed(database, row, failure))).toEqual({
      treasury_consent: { [row.id]: ["failure_message", "failure_reason", ...STATE] },
      dwallet: { [own.rowId]: STATE },
    });
    expect(await stateOf(own)).toBe("Active");
    const refused = await queued(own, "refuse");
    const changed = await changes(() => operation.failed(database, refused, failure));
    expect(changed["dwallet"]).toBeUndefined();
    const gone = { ...failure, abort: { module: "custody", code: 1 } };
    for (const abort of [
      { module: "treasury", code: 1 },
      { module: "custody", code: 2 },
    ])
      await operation.failed(database, refused, { ...failure, abort });
    expect(await stateOf(own)).toBe("Active");
    await operation.failed(database, refused, gone);
    expect(await stateOf(own)).toBe("Left");
    await database.query("UPDATE dwallet SET state = 'Left' WHERE id = $1", [own.rowId]);
    await changes(() => operation.failed(database, row, failure));
    expect(await stateOf(own)).toBe("Left");
  });
});

describe("a consent takes only its own event:", () => {
  it.each([
    ["another Treasury's", () => exit({ treasury: objectId() })],
    ["another dWallet's", () => exit({ dwallet: other.objectId })],
    ["another recipient's", () => exit({ recipient: objectId() })],
    ["a refusal's", () => refusal()],
  ])("an exit does not take %s", async (_, event) => {
    const row = await queued(own, "leave");
    await expect(operation.landed(database, [row], landed(event()))).rejects.toThrow(MixedUpAnswerError);
    Object.assign(chain, {
      lastChange: "digest",
      outcome: { kind: "landed", transaction: landed(event()) },
    });
    expect(await operation.adopt(database, row, { reason: "X", message: "" })).toBe(false);
    expect(await stateOf(own)).toBe("Leaving");
  });

  it.each([
    ["another Treasury's", () => refusal({ treasury: objectId() })],
    ["another dWallet's", () => refusal({ dwallet: other.objectId })],
    ["an exit's", () => exit()],
  ])("a refusal does not take %s", async (_, event) => {
    const row = await queued(own, "refuse");
    await expect(operation.landed(database, [row], landed(event()))).rejects.toThrow(MixedUpAnswerError);
  });

  it("and is found among the others by the transaction that last wrote the count of consents", async () => {
    const row = await queued(own, "leave");
    const adopt = () => operation.adopt(database, row, { reason: "X", message: "" });
    const events = [exit({ dwallet: other.objectId }), exit()];
    expect(await adopt()).toBe(false);
    chain.lastChange = "digest";
    expect(await adopt()).toBe(false);
    chain.outcome = { kind: "aborted", transaction: landed(...events) };
    expect(await adopt()).toBe(false);
    chain.outcome = { kind: "landed", transaction: landed(...events) };
    expect(await adopt()).toBe(true);
    expect(await stateOf(own)).toBe("Left");
    expect((await newestConsent(database, own.rowId, "leave"))?.state).toBe("landed");
  });
});

describe("the mark of a dWallet", () => {
  it("moves Active and Leaving to Left, and back with a newer version alone", async () => {
    expect(await changes(() => noteLeftVersion(database, own.rowId, 5n))).toEqual({});
    expect(await changes(() => markDWalletHeld(database, own.rowId, 5n))).toEqual({});
    expect(await changes(() => markDWalletLeft(database, own.rowId))).toEqual({
      dwallet: { [own.rowId]: STATE },
    });
    expect(await changes(() => markDWalletLeft(database, own.rowId, { version: 9n }))).toEqual({});
    expect(await changes(() => noteLeftVersion(database, own.rowId, 5n))).toEqual({
      dwallet: { [own.rowId]: ["left_version"] },
    });
    expect(await changes(() => noteLeftVersion(database, own.rowId, 6n))).toEqual({});
    expect(await markDWalletHeld(database, own.rowId, 5n)).toBe(false);
    await database.query("UPDATE dwallet SET leave_tx_digest = 'x' WHERE id = $1", [own.rowId]);
    expect(await changes(() => markDWalletHeld(database, own.rowId, 6n))).toEqual({
      dwallet: { [own.rowId]: ["leave_tx_digest", "left_version", ...STATE] },
    });
    await markDWalletLeft(database, own.rowId, { txDigest: "first" });
    expect(await changes(() => markDWalletHeld(database, own.rowId, 1n))).toHaveProperty("dwallet");
    for (const state of ["Failed", "Submitting"]) {
      await database.query("UPDATE dwallet SET state = $2 WHERE id = $1", [own.rowId, state]);
      expect(await markDWalletLeft(database, own.rowId)).toBe(false);
    }
  });
});

it("the Treasury's record is refused from a fullnode that does not know the Treasury or the dWallet", async () => {
  const objects = custodyObjects(TREASURY, { dwalletId: own.objectId, owner: objectId() });
  const reader = (known: ReadonlyMap<string, Uint8Array>, versions: readonly string[]) => ({
    getObjects: async () => new Map(known),
    ownedObjects: async () =>
      new Map(versions.map((id) => [id, { objectId: id, version: "3", digest: "d", lastChange: undefined }])),
  });
  const whole = new Map([...objects, [own.objectId, new Uint8Array()]]);
  const held = readHeld(reader(whole, [TREASURY, own.objectId]), TREASURY, [own.objectId]);
  expect(await held).toEqual(new Map([[own.objectId, { isHeld: false, version: 3n }]]));
  await expect(readHeld(reader(whole, [own.objectId]), TREASURY, [own.objectId])).rejects.toThrow(
    "does not know the Treasury",
  );
  await expect(
    readHeld(reader(new Map(), [TREASURY, own.objectId]), TREASURY, [own.objectId]),
  ).rejects.toThrow("does not know the Treasury");
  await expect(readCustody(reader(objects, []) as never, TREASURY, own.objectId)).rejects.toThrow(
    "does not know the dWallet",
  );
  const custody = await readCustody(reader(whole, []) as never, TREASURY, own.objectId);
  expect(custody).toMatchObject({ nextNonce: 0n, held: { isRefused: false } });
});

it("the newest consent of a dWallet is that of its action", async () => {
  const leave = (await store(own, "leave"))!;
  await database.query(
    "UPDATE treasury_consent SET state = 'failed', failure_reason = 'x', failure_message = '' WHERE id = $1",
    [leave],
  );
  await database.query("UPDATE dwallet SET state = 'Active' WHERE id = $1", [own.rowId]);
  const refuse = (await store(own, "refuse"))!;
  await store(other, "leave");
  expect((await newestConsent(database, own.rowId, "leave"))?.id).toBe(leave);
  expect((await newestConsent(database, own.rowId, "refuse"))?.id).toBe(refuse);
  await database.query("UPDATE treasury_consent SET state = 'landed', tx_digest = 'd' WHERE id = $1", [
    refuse,
  ]);
  const again = (await store(own, "leave"))!;
  expect((await newestConsent(database, own.rowId, "leave"))?.id).toBe(again);
});

const changes = (action: () => Promise<unknown>) =>
  changedRows(database, ["dwallet", "treasury_consent"], action);

function store(
  { rowId, objectId: dwalletId }: TestDWalletRow,
  action: "leave" | "refuse",
  project = projectId,
) {
  const consent = {
    action,
    dwalletId,
    treasuryId: TREASURY,
    nonce: 0n,
    expiresEpoch: 9n,
    chain: new Uint8Array(32),
    ...(action === "leave" && { recipient: RECIPIENT }),
    publicKey: new Uint8Array(32),
    signature: new Uint8Array(64),
  };
  const caller = { projectId: project, origin: TEST_ORIGIN };
  return storeConsent(database, caller, { network: "localnet", dwalletRowId: rowId, consent });
}

/** Stores a consent that is in the outbox. */
async function queued(dwallet: TestDWalletRow, action: "leave" | "refuse") {
  const id = (await store(dwallet, action))!;
  await database.query("UPDATE treasury_consent SET state = 'queued' WHERE id = $1", [id]);
  return (await operation.load(database, [id])).get(id)!;
}

async function age(): Promise<void> {
  for (const table of ["dwallet", "treasury_consent"])
    await database.query(`UPDATE ${table} SET updated_at = updated_at - interval '1 day'`, []);
}

async function operations(): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `SELECT o.subject_id AS id FROM chain_operation o JOIN treasury_consent c ON c.id = o.subject_id
     WHERE o.kind = 'consent' AND o.priority = 15`,
  );
  return rows.map(({ id }) => id);
}

async function stateOf({ rowId }: TestDWalletRow): Promise<string | undefined> {
  const [row] = await database.query<{ state: string }>("SELECT state FROM dwallet WHERE id = $1", [rowId]);
  return row?.state;
}

/** Inserts a reservation of the dWallet. */
async function openRequest({ rowId, bucket }: TestDWalletRow): Promise<string> {
  const [presign] = await readyPresigns(database, bucket, 1);
  const [row] = await database.query<{ id: string }>(
    `INSERT INTO sign_request (id, project_id, dwallet_id, presign_id, network, curve, signature_algorithm,
       hash_scheme, message, price_micro_usd, status, expires_at)
     SELECT gen_random_uuid(), $1, $2, id, 'localnet', 0, 0, 0, '', 0, 'prepared', now()
     FROM presign WHERE presign_id = $3 RETURNING id`,
    [projectId, rowId, presign],
  );
  return row!.id;
}

function landed(...events: ChainEvent[]): LandedTransaction {
  return { digest: "digest", version: 7n, events };
}

function exit(of: { treasury?: string; dwallet?: string; recipient?: string } = {}): ChainEvent {
  const { treasury = TREASURY, dwallet = own.objectId, recipient = RECIPIENT } = of;
  return event("DWalletLeft", [treasury, dwallet, objectId(), objectId(), recipient]);
}

function refusal(of: { treasury?: string; dwallet?: string } = {}): ChainEvent {
  const { treasury = TREASURY, dwallet = own.objectId } = of;
  return event("ReleaseRefused", [treasury, dwallet, objectId()]);
}

function event(name: string, addresses: readonly string[]): ChainEvent {
  const content = addresses.flatMap((address) => [...bcs.Address.serialize(address).toBytes()]);
  return { type: `0x1::custody::${name}`, bcs: Uint8Array.from(content) } as ChainEvent;
}
