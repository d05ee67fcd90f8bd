/** Which movements of a transaction on a localnet count as a payment. */

import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import type { Transaction } from "@mysten/sui/transactions";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { localnetHotWalletSecret } from "../../../../src/localnet/seed.ts";
import { connectNetwork } from "../../../../src/service/chain/fullnodes/network.ts";
import { createPaymentReader, type PaymentReader } from "../../../../src/service/chain/payment-reader.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import { Secret } from "../../../../src/service/platform/telemetry/secret.ts";
import { SUI } from "../../../support/database/deposits.ts";
import { type Harness, payPresigns, startHarness } from "../../localnet/harness.ts";

const AMOUNT = 1_000_000n;
const payee = new Ed25519Keypair().toSuiAddress();
let harness: Harness;
let reader: PaymentReader;

beforeAll(async () => {
  harness = await startHarness();
  const { url, ikaConfig, treasury } = harness.net;
  const fullnodeUrl = new Secret(url);
  const hotWalletSecret = new Secret(localnetHotWalletSecret());
  reader = createPaymentReader(
    await connectNetwork({
      clock: systemClock,
      name: "localnet",
      fullnodeUrl,
      ikaConfig,
      treasury,
      hotWalletSecret,
    }),
  );
});
afterAll(() => harness.close());

const pay = (tx: Transaction) => tx.transferObjects([tx.splitCoins(tx.gas, [AMOUNT])], payee);

describe("a transaction pays", () => {
  it("what it moved in accepted coins, and nothing in others, whatever their names", async () => {
    const { digest } = await harness.run(pay);
    expect(await reader.payments(digest, [SUI.coinType])).toMatchObject([{ address: payee, amount: AMOUNT }]);
    expect(await reader.payments(digest, [SUI.coinType.replace(/^0x\w+/, `0x${"ab".repeat(32)}`)])).toEqual(
      [],
    );
  });

  it("nothing if it failed on the chain", async () => {
    const failed = await harness.runToFailure((tx) => {
      pay(tx);
      payPresigns(harness, tx, { count: 0 });
    });
    expect(await reader.payments(failed.digest, [SUI.coinType])).toEqual([]);
  });
});
