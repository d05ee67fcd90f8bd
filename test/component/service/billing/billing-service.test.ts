import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import {
  Billing,
  LedgerEntry_Kind as Kind,
  type LedgerEntry,
} from "../../../../gen/proto/tss/v1/billing_pb.ts";
import { SignatureAlgorithm } from "../../../../gen/proto/tss/v1/types_pb.ts";
import type { PriceTable } from "../../../../src/protocol/price-table.ts";
import { createBillingService } from "../../../../src/service/billing/billing-service.ts";
import { creditProject } from "../../../../src/service/ledger/credit-project.ts";
import { chargeDkg } from "../../../../src/service/onboarding/create-dwallet.ts";
import { failDWallet } from "../../../../src/service/onboarding/dwallet-session.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { sealToken } from "../../../../src/service/platform/store/read-page.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { flatPrices } from "../../../support/database/prices.ts";
import { dwalletOf, projectWith, readyPresigns, TEST_ORIGIN } from "../../../support/database/rows.ts";
import { clientOf, refusalOf } from "../../../support/service/service-client.ts";

const PRICES: PriceTable = {
  ...flatPrices(10n, 20n),
  signByAlgorithmMicroUsd: new Map([["Taproot", 12n]]),
  messageKibMicroUsd: 6n,
};
let database: Database;
let projectId: string;
let billing: ReturnType<typeof clientOf<typeof Billing>>;

beforeAll(async () => {
  database = await openTestDatabase();
  billing = clientOf(
    Billing,
    createBillingService({ database, signals: createLocalSignals(), clock: systemClock, prices: PRICES }),
    () => ({
      kind: "project",
      projectId,
      apiKeyId: "key",
      network: "localnet",
      scopes: [],
      origin: TEST_ORIGIN,
    }),
  );
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 100n);
});

const credit = (amountMicroUsd: bigint, reference: string) =>
  creditProject(database, TEST_ORIGIN, {
    projectId,
    amountMicroUsd,
    reference: `${reference}-${projectId}`,
    description: "test",
  });

/** Reserves and submits a signature at a price of 10, and has it refunded. Returns the request's id. */
async function refundedSign(): Promise<string> {
  const steps = signSteps(database, createLocalSignals());
  const dwallet = await dwalletOf(database, projectId);
  await readyPresigns(database, dwallet.bucket, 1);
  const id = await steps.reserve(projectId, dwallet);
  await steps.submit(projectId, id);
  await steps.refuse(id);
  return id;
}

async function allEntries(pageSize: number, between: () => Promise<unknown> = async () => {}) {
  const entries: LedgerEntry[] = [];
  let pageToken = "";
  do {
    const page = await billing.listLedgerEntries({ pageSize, pageToken });
    entries.push(...page.ledgerEntries);
    pageToken = page.nextPageToken;
    await between();
  } while (pageToken !== "");
  return entries;
}

it("returns the whole price table", async () => {
  expect(await billing.getPricing({})).toMatchObject({
    signPriceMicroUsd: 10n,
    signPrices: [
      { signatureAlgorithm: SignatureAlgorithm.ECDSASecp256k1, priceMicroUsd: 10n },
      { signatureAlgorithm: SignatureAlgorithm.Taproot, priceMicroUsd: 12n },
      { signatureAlgorithm: SignatureAlgorithm.ECDSASecp256r1, priceMicroUsd: 10n },
      { signatureAlgorithm: SignatureAlgorithm.EdDSA, priceMicroUsd: 10n },
      { signatureAlgorithm: SignatureAlgorithm.Schnorrkel, priceMicroUsd: 10n },
    ],
    includedMessageBytes: 1_024,
    messageKibPriceMicroUsd: 6n,
    dkgPriceMicroUsd: 20n,
  });
});

it("lists a dWallet's charge and refund with its id", async () => {
  const dwallet = await dwalletOf(database, projectId);
  const charged = { dwalletId: dwallet.rowId, projectId, network: "localnet", priceMicroUsd: 20n };
  await chargeDkg(database, { ...charged, operationId: newId(), priority: 20, traceParent: undefined });
  await database.query("UPDATE dwallet SET price_micro_usd = 20, state = 'Submitting' WHERE id = $1", [
    dwallet.rowId,
  ]);
  await failDWallet(database, dwallet.rowId, { from: "Submitting", to: "Failed", reason: "CHAIN_REJECTED" });
  const { ledgerEntries } = await billing.listLedgerEntries({ pageSize: 2 });
  expect(ledgerEntries).toMatchObject([
    { kind: Kind.dkg_refund, amountMicroUsd: 20n, dwalletId: dwallet.objectId },
    { kind: Kind.dkg, amountMicroUsd: -20n, dwalletId: dwallet.objectId },
  ]);
  expect(ledgerEntries.map(({ signRequestId }) => signRequestId)).toEqual([undefined, undefined]);
});

it("lists each movement, the newest first, with its reason and the balance after it", async () => {
  const before = Date.now();
  const signRequestId = await refundedSign();
  const entries = await allEntries(50);
  expect(entries).toMatchObject([
    {
      ledgerEntryId: `refund:${signRequestId}`,
      kind: Kind.refund,
      amountMicroUsd: 10n,
      signRequestId,
      balanceMicroUsd: 100n,
    },
    {
      ledgerEntryId: `sign:${signRequestId}`,
      kind: Kind.sign,
      amountMicroUsd: -10n,
      signRequestId,
      balanceMicroUsd: 90n,
    },
    {
      ledgerEntryId: `credit:${projectId}`,
      kind: Kind.credit,
      amountMicroUsd: 100n,
      balanceMicroUsd: 100n,
    },
  ]);
  expect(entries[2]?.signRequestId).toBeUndefined();
  expect(timestampDate(entries[0]!.createTime!).getTime()).toBeGreaterThanOrEqual(before - 1_000);
});

it("keeps balances consistent across pages while money moves", async () => {
  for (const [index, amount] of [5n, -30n, 1n, -60n, 7n, 200n].entries())
    expect(await credit(amount, `${index}`)).toBe(true);
  const expected = await allEntries(200);
  expect(expected.map(({ balanceMicroUsd }) => balanceMicroUsd)).toEqual([
    223n,
    23n,
    16n,
    76n,
    75n,
    105n,
    100n,
  ]);
  let count = 0;
  expect(await allEntries(2, () => credit(1_000n, `later-${count++}`))).toEqual(expected);
  expect(count).toBe(4);
});

it("lists no other project's entries and rejects another project's token", async () => {
  await credit(1n, "a");
  const { nextPageToken: pageToken } = await billing.listLedgerEntries({ pageSize: 1 });
  expect(pageToken).not.toBe("");
  projectId = await projectWith(database, 0n);
  expect(await allEntries(50)).toEqual([]);
  for (const position of ["1:a\0", "1:", ":a", "1", "1234567890123456789:a", "x:a"]) {
    const token = sealToken(["ledger", projectId], position);
    expect(await refusalOf(billing.listLedgerEntries({ pageToken: token }))).toBe("VALIDATION");
  }
  expect(await refusalOf(billing.listLedgerEntries({ pageToken }))).toBe("VALIDATION");
  expect(await refusalOf(billing.listLedgerEntries({ pageSize: -1 }))).toBe("VALIDATION");
});
