/** A user with whom a dWallet was shared, in the statements that reserve and submit. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { removeHolder } from "../../../../src/service/onboarding/sharing/holders.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { createPresignQueue } from "../../../../src/service/presigns/presign-queue.ts";
import { reserve } from "../../../../src/service/signing/reserve.ts";
import { readShownSignRequest } from "../../../../src/service/signing/shown-sign-request.ts";
import { submit } from "../../../../src/service/signing/submit.ts";
import { checkHalfInline } from "../../../support/crypto/inline-verifier.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { flatPrices } from "../../../support/database/prices.ts";
import {
  layoutOfSignMessage,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  TEST_TRIPLE,
} from "../../../support/database/rows.ts";
import { recipientOf, type Sharable, sharable, sharedWith } from "../../../support/database/shares.ts";

let database: Database;
let projectId: string;
let wallet: Sharable;
let bobsAddress: string;

beforeAll(async () => {
  database = await openTestDatabase();
  projectId = await projectWith(database, 1_000n);
  wallet = await sharable(database, projectId, { userReference: "alice" });
  await readyPresigns(database, wallet.bucket, 10);
  const bob = await recipientOf(database, projectId, "bob");
  await sharedWith(database, wallet, bob);
  bobsAddress = bob.address;
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

const signals = createLocalSignals();
const deps = () => ({
  database,
  signals,
  presigns: createPresignQueue({ clock: systemClock, signals }),
  checkHalf: checkHalfInline,
  prices: flatPrices(10n),
  reservationTtlMs: 60_000,
  openMaxCount: 100,
});
const callerOf = (userReference: string, dwalletIds?: readonly string[]) => ({
  projectId,
  network: "localnet",
  origin: TEST_ORIGIN,
  allowance: {
    id: newId(),
    userReferences: [userReference],
    dwalletIds,
    algorithms: undefined,
    budget: undefined,
  },
});
const reserveAs = (user: string, dwalletIds?: readonly string[]) =>
  reserve(
    deps(),
    callerOf(user, dwalletIds),
    {
      dwalletId: wallet.objectId,
      triple: TEST_TRIPLE,
      message: Uint8Array.of(1),
      idempotency: undefined,
    },
    { timeoutMs: 10_000, signal: new AbortController().signal },
  );
const submitAs = (user: string, signRequestId: string) =>
  submit(deps(), callerOf(user), { signRequestId, userSignMessage: layoutOfSignMessage() });
const freezeBob = (value: string) =>
  database.query(`UPDATE project_user SET frozen_at = ${value} WHERE project_id = $1 AND reference = 'bob'`, [
    projectId,
  ]);

it("reserves and submits until its removal, and its submitted requests go on", async () => {
  const { id } = await reserveAs("bob");
  expect((await submitAs("bob", id)).status).toBe("queued");
  expect(await readShownSignRequest(database, { id, caller: callerOf("bob") })).toMatchObject({ id });
  expect(await readShownSignRequest(database, { id, caller: callerOf("carol") })).toBeUndefined();
  await expect(reserveAs("carol")).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });
  await expect(reserveAs("bob", [])).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });

  const open = await reserveAs("bob");
  await freezeBob("now()");
  await expect(reserveAs("bob")).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });
  await expect(submitAs("bob", open.id)).rejects.toMatchObject({ reason: "SIGN_REQUEST_NOT_FOUND" });
  await freezeBob("NULL");

  const owner = { ...callerOf("alice") };
  const removed = { dwalletId: wallet.objectId, holderAddress: bobsAddress } as never;
  await removeHolder({ database }, owner, removed);
  await expect(submitAs("bob", open.id)).rejects.toMatchObject({ reason: "SIGN_REQUEST_NOT_FOUND" });
  await expect(reserveAs("bob")).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });
  expect(await readShownSignRequest(database, { id, caller: callerOf("alice") })).toMatchObject({
    status: "queued",
    userReference: "alice",
  });
  expect((await submitAs("alice", open.id)).status).toBe("queued");
});
