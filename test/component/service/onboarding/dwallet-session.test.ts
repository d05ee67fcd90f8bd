/** The chain's answer about a DKG changes the row of exactly that dWallet. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DWallet } from "../../../../src/protocol/chain/chain-structs.ts";
import { MixedUpAnswerError } from "../../../../src/protocol/chain/read-errors.ts";
import { recordDWalletState } from "../../../../src/service/onboarding/dwallet-session.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { createSimMpc } from "../../../sim/sim-mpc.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { dwalletOf, objectId, projectWith, type TestDWalletRow } from "../../../support/database/rows.ts";

const CAP = objectId();
const REFUNDS_PER_DAY = 20;
let database: Database;
let row: TestDWalletRow;
let output: Uint8Array;

beforeAll(async () => {
  database = await openTestDatabase();
  row = await dwalletOf(database, await projectWith(database, 0n), {
    state: "AwaitingNetworkDKGVerification",
  });
  await database.query("UPDATE dwallet SET cap_id = $2 WHERE id = $1", [row.rowId, CAP]);
  const made = await createSimMpc().dkg({ sessionId: new Uint8Array(32) } as never);
  if (made.kind !== "completed") throw new Error("the DKG was rejected");
  output = made.output;
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

type Fields = Parameters<typeof DWallet.serialize>[0];

/** The row's dWallet as the chain shows it, optionally changed. */
function onChain(change: Partial<Fields>): Uint8Array {
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
    state: { AwaitingKeyHolderSignature: output },
    ...change,
  }).toBytes();
}

const record = (change: Partial<Fields>) =>
  recordDWalletState(database, row.rowId, onChain(change), REFUNDS_PER_DAY);
const stateOfRow = async () =>
  (await database.query<{ state: string }>("SELECT state FROM dwallet WHERE id = $1", [row.rowId]))[0]?.state;

describe("the state of a DKG", () => {
  it.each<[string, Partial<Fields>]>([
    ["another id", { id: objectId() }],
    ["another cap", { dwallet_cap_id: objectId() }],
    ["another curve", { curve: 1 }],
    ["another network key", { dwallet_network_encryption_key_id: objectId() }],
    ["an imported key", { is_imported_key_dwallet: true }],
  ])("is neither completed nor rejected by an object with %s", async (_what, change) => {
    const rejected = { ...change, state: { NetworkRejectedDKGVerification: null } } as Partial<Fields>;
    await expect(record(change)).rejects.toBeInstanceOf(MixedUpAnswerError);
    await expect(record(rejected)).rejects.toBeInstanceOf(MixedUpAnswerError);
    expect(await stateOfRow()).toBe("AwaitingNetworkDKGVerification");
  });

  it("is not recorded for a row that does not exist", async () => {
    const recorded = recordDWalletState(database, newId(), onChain({}), REFUNDS_PER_DAY);
    await expect(recorded).rejects.toBeInstanceOf(MixedUpAnswerError);
  });

  it("is read from the dWallet's own object", async () => {
    expect(await record({})).toBe(true);
    expect(await stateOfRow()).toBe("AwaitingKeyHolderSignature");
  });
});
