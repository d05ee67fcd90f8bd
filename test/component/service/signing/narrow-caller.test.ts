/** A caller with a narrow key reserves with the algorithms of the key only. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Allowance } from "../../../../src/service/access/allowances/allowance.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { createPresignQueue } from "../../../../src/service/presigns/presign-queue.ts";
import { reserve } from "../../../../src/service/signing/reserve.ts";
import { submit } from "../../../../src/service/signing/submit.ts";
import type { HalfOwner } from "../../../../src/service/signing/verify/verifier.ts";
import { checkHalfInline } from "../../../support/crypto/inline-verifier.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { flatPrices } from "../../../support/database/prices.ts";
import {
  dwalletOf,
  layoutOfSignMessage,
  moneyOf,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  TEST_TRIPLE,
  type TestDWalletOptions,
} from "../../../support/database/rows.ts";

let database: Database;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

async function reserveWith(algorithms: Allowance["algorithms"], dwalletOptions: TestDWalletOptions = {}) {
  const projectId = await projectWith(database, 10n);
  const dwallet = await dwalletOf(database, projectId, dwalletOptions);
  await readyPresigns(database, dwallet.bucket, 1);
  const signals = createLocalSignals();
  const deps = {
    database,
    signals,
    presigns: createPresignQueue({ clock: systemClock, signals }),
    prices: flatPrices(10n),
    reservationTtlMs: 60_000,
    openMaxCount: 10,
  };
  const allowance = {
    id: projectId,
    userReferences: undefined,
    dwalletIds: undefined,
    algorithms,
    budget: undefined,
  };
  const caller = { projectId, network: "localnet", allowance, origin: TEST_ORIGIN };
  const input = {
    dwalletId: dwallet.objectId,
    triple: TEST_TRIPLE,
    message: Uint8Array.of(1),
    idempotency: undefined,
  };
  const time = { timeoutMs: 10_000, signal: new AbortController().signal };
  return { projectId, deps, caller, reserving: reserve(deps, caller, input, time) };
}

it("a stolen narrow key signs with no algorithm but its own, and holds no money", async () => {
  const { projectId, reserving } = await reserveWith(["Taproot", "EdDSA"]);
  await expect(reserving).rejects.toMatchObject({
    reason: "ALGORITHM_NOT_ALLOWED",
    metadata: { signatureAlgorithm: "ECDSASecp256k1" },
  });
  expect(await moneyOf(database, projectId)).toMatchObject({ held: 0n });
});

it("a stolen narrow key submits nothing with another algorithm, even if another caller has reserved it", async () => {
  const { deps, caller, reserving } = await reserveWith(undefined);
  const { id: signRequestId } = await reserving;
  const allowance = { ...caller.allowance, algorithms: ["Taproot"] as const };
  const input = { signRequestId, userSignMessage: layoutOfSignMessage() };
  const submitting = submit({ ...deps, checkHalf: checkHalfInline }, { ...caller, allowance }, input);
  await expect(submitting).rejects.toMatchObject({ reason: "ALGORITHM_NOT_ALLOWED" });
});

it.each([{ userReference: "alice" }, {}])(
  "a half counts for the user of its dWallet: %j",
  async (dwalletOptions) => {
    const { projectId, deps, caller, reserving } = await reserveWith(undefined, dwalletOptions);
    const input = { signRequestId: (await reserving).id, userSignMessage: layoutOfSignMessage() };
    const owners: HalfOwner[] = [];
    await submit({ ...deps, checkHalf: async (owner) => void owners.push(owner) }, caller, input);
    expect(owners).toEqual([{ projectId, userReference: dwalletOptions.userReference ?? null }]);
  },
);

it.each([
  ["names the algorithm", ["Taproot", "ECDSASecp256k1"]],
  ["names none", undefined],
] as const)("a narrow key that %s signs with it", async (_, algorithms) => {
  const { projectId, reserving } = await reserveWith(algorithms);
  await expect(reserving).resolves.toMatchObject({ status: "prepared" });
  expect(await moneyOf(database, projectId)).toMatchObject({ held: 10n });
});
