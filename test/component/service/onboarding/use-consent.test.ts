/** What the service checks before it sends a consent, over a fullnode whose answers the test controls. */
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { toBase58 } from "@mysten/sui/utils";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type SignedConsent, useConsent } from "../../../../src/service/onboarding/custody/consents.ts";
import type { OnboardingDeps } from "../../../../src/service/onboarding/onboarding-deps.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../../../src/service/platform/coordination/topics.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { custodyObjects } from "../../../support/chain/treasury-bytes.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { signConsent } from "../../../support/database/exits.ts";
import {
  dwalletOf,
  objectId,
  projectWith,
  TEST_ORIGIN,
  type TestDWalletRow,
} from "../../../support/database/rows.ts";
import { createManualClock } from "../../../support/manual-clock.ts";

const TREASURY = objectId();
const EPOCH = 7n;
const CHAIN = toBase58(new Uint8Array(32).fill(5));
/** The time limit is over at once, so a consent that was sent ends with DEADLINE. */
const time = { timeoutMs: 0, signal: new AbortController().signal };
let database: Database;
let projectId: string;
let dwallet: TestDWalletRow;
let owner: Ed25519Keypair;
let isHeld: boolean;
let notified: string[];

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 0n);
  dwallet = await dwalletOf(database, projectId);
  owner = Ed25519Keypair.generate();
  isHeld = true;
  notified = [];
});

it("a leave makes the dWallet Leaving, and wakes the loop of exits and the outbox", async () => {
  expect(await refusal(await consent())).toMatchObject({ reason: "DEADLINE" });
  expect(await state()).toBe("Leaving");
  expect(notified).toEqual([topics.leaving("localnet"), topics.outbox("localnet")]);
  // A repeat waits for the first one.
  expect(await refusal(await consent())).toMatchObject({ reason: "DEADLINE" });
  expect(await stored()).toBe(1);
});

it("a refusal of a release wakes the outbox alone, and the dWallet still signs", async () => {
  expect(await refusal(await consent({ action: "refuse" }))).toMatchObject({ reason: "DEADLINE" });
  expect(await state()).toBe("Active");
  expect(notified).toEqual([topics.outbox("localnet")]);
});

it.each(["AwaitingKeyHolderSignature", "AwaitingNetworkDKGVerification"])(
  "a leave of a dWallet that is %s is refused with its state, before the chain is read",
  async (current) => {
    await setState(current);
    isHeld = false;
    expect(await refusal(await consent())).toMatchObject({
      reason: "DWALLET_NOT_ACTIVE",
      metadata: { dwalletId: dwallet.objectId, state: current },
    });
    expect([await state(), await stored()]).toEqual([current, 0]);
  },
);

it("a refusal of a release is possible before the dWallet is Active", async () => {
  await setState("AwaitingKeyHolderSignature");
  expect(await refusal(await consent({ action: "refuse" }))).toMatchObject({ reason: "DEADLINE" });
  expect(await stored()).toBe(1);
});

it("a second consent is refused while the first is pending", async () => {
  await refusal(await consent({ action: "refuse" }));
  expect(await refusal(await consent())).toMatchObject({
    reason: "WRONG_STATE",
    metadata: { state: "Active" },
  });
  expect(await stored()).toBe(1);
});

it("a dWallet that the Treasury no longer holds has left, which the service then records", async () => {
  isHeld = false;
  expect(await refusal(await consent())).toMatchObject({ reason: "DWALLET_LEFT" });
  expect([await state(), await stored()]).toEqual(["Left", 0]);
  expect(await refusal(await consent())).toMatchObject({ reason: "DWALLET_LEFT" });
});

it("a capability goes to no address that cannot use it", async () => {
  for (const recipient of [`0x${"00".repeat(32)}`, TREASURY, dwallet.objectId])
    expect(await refusal(await consent({ recipient }))).toMatchObject({
      reason: "VALIDATION",
      violations: [{ field: "recipient" }],
    });
  expect(await stored()).toBe(0);
});

it("a consent is valid until the end of its last epoch", async () => {
  expect(await refusal(await consent({ expiresEpoch: EPOCH - 1n }))).toMatchObject({
    reason: "VALIDATION",
    violations: [{ field: "expires_epoch" }],
  });
  expect(await refusal(await consent({ expiresEpoch: EPOCH }))).toMatchObject({ reason: "DEADLINE" });
});

const consent = (change: Partial<SignedConsent> = {}) =>
  signConsent(
    {
      client: { core: { getChainIdentifier: async () => ({ chainIdentifier: CHAIN }) } },
      treasury: { treasuryId: TREASURY },
    },
    owner,
    { dwalletId: dwallet.objectId, ...change },
  );

/** Sends a consent. Returns the error that ends the call. */
async function refusal(sent: SignedConsent): Promise<unknown> {
  const signals = createLocalSignals();
  const notify = (topic: string) => void notified.push(topic);
  const deps = {
    database,
    network: { name: "localnet", treasury: { treasuryId: TREASURY }, clock: createManualClock() },
    signals: { ...signals, notify },
    readerFor: () => ({
      getObjects: async () =>
        new Map([
          ...custodyObjects(TREASURY, {
            dwalletId: dwallet.objectId,
            owner: isHeld ? owner.toSuiAddress() : undefined,
          }),
          [dwallet.objectId, new Uint8Array()],
        ]),
      epoch: async () => ({ epoch: EPOCH }),
      chainIdentifier: async () => CHAIN,
    }),
  };
  const caller = { projectId, origin: TEST_ORIGIN };
  return useConsent(deps as unknown as OnboardingDeps, caller, sent, time).then(
    () => undefined,
    (error: unknown) => error,
  );
}

function setState(to: string): Promise<unknown> {
  return database.query("UPDATE dwallet SET state = $2 WHERE id = $1", [dwallet.rowId, to]);
}

async function state(): Promise<string> {
  const [row] = await database.query<{ state: string }>("SELECT state FROM dwallet WHERE id = $1", [
    dwallet.rowId,
  ]);
  return row!.state;
}

/** Counts the consents of the dWallet. */
async function stored(): Promise<number> {
  return (await database.query("SELECT 1 FROM treasury_consent WHERE dwallet_id = $1", [dwallet.rowId]))
    .length;
}
