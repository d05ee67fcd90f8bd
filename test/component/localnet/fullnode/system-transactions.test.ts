/** Transactions of the network itself, read by the Sui SDK's own client. */
import { bcs } from "@mysten/sui/bcs";
import { TransactionDataBuilder } from "@mysten/sui/transactions";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Harness, hotWallet, payFunds, startHarness } from "../harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const include = { transaction: true, bcs: true, effects: true } as const;

it("a grant of the faucet has a sender, and content whose hash is its digest", async () => {
  const [coin] = await harness.net.fund(hotWallet.toSuiAddress());
  const digest = coin!.transactionDigest;
  const { Transaction: granted } = await harness.client.getTransaction({ digest, include });
  expect(granted!.status.success).toBe(true);
  expect(granted!.transaction!.sender).toBe(normalizeSuiAddress("0x0"));
  expect(TransactionDataBuilder.getDigestFromBytes(granted!.bcs!)).toBe(digest);
  expect(bcs.TransactionData.parse(granted!.bcs!).V1!.sender).toBe(granted!.transaction!.sender);
});

it("so does the settlement of an address balance", async () => {
  const { digest } = await payFunds(harness, hotWallet.toSuiAddress(), 1n);
  const { response } = await harness.client.ledgerService.getTransaction({
    digest,
    readMask: { paths: ["checkpoint"] },
  });
  const sequenceNumber = response.transaction!.checkpoint!;
  const checkpoint = await harness.client.ledgerService.getCheckpoint({
    checkpointId: { oneofKind: "sequenceNumber", sequenceNumber },
    readMask: { paths: ["transactions.digest"] },
  });
  const settlement = checkpoint.response.checkpoint!.transactions[1]!.digest!;
  const { Transaction: settled } = await harness.client.getTransaction({ digest: settlement, include });
  expect(TransactionDataBuilder.getDigestFromBytes(settled!.bcs!)).toBe(settlement);
});

it("the genesis has succeeded and created the network's objects", async () => {
  const digest = harness.net.chainId;
  const options = { effects: true, objectTypes: true } as const;
  const { Transaction: genesis } = await harness.client.getTransaction({ digest, include: options });
  expect(genesis!.status.success).toBe(true);
  const { objectID } = harness.config.objects.ikaDWalletCoordinator;
  const coordinator = genesis!.effects.changedObjects.find(({ objectId }) => objectId === objectID);
  expect(coordinator).toMatchObject({ idOperation: "Created", outputVersion: "1" });
  expect(genesis!.objectTypes[objectID]).toMatch(/::coordinator::DWalletCoordinator$/);
  const readMask = { paths: ["transaction.kind.genesis"] };
  const { response } = await harness.client.ledgerService.getTransaction({ digest, readMask });
  expect(response.transaction!.transaction!.kind!.data.oneofKind).toBe("genesis");
});
