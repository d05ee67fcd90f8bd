import {
  CoordinatorInnerDynamicField,
  CoordinatorInnerModule,
  coordinatorTransactions as calls,
} from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { Transaction } from "@mysten/sui/transactions";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { networkAddresses } from "../../../../src/localnet/contracts/addresses.ts";
import { PricingInfo } from "../../../../src/localnet/contracts/coordinator/prices.ts";
import { LOCALNET_SEED } from "../../../../src/localnet/seed.ts";
import { paying } from "../coordinator-calls.ts";
import { abortOf, contentsWhen, type Harness, hotWallet, presignIdsOf, startHarness } from "../harness.ts";
import { requestOf } from "../sdk-steps.ts";

const { DWallet, DWalletDKGRequestEvent, PresignSession, SignSession } = CoordinatorInnerModule;

let harness: Harness;
let pay: Awaited<ReturnType<typeof paying>>;
beforeAll(async () => {
  harness = await startHarness();
  pay = await paying(harness);
});
afterAll(() => harness.close());

const MESSAGE = new TextEncoder().encode("a message");

/** A DKG with a public share that signs with this presign's cap. */
const dkgWithSign = (presignCapId: string, curve: number, hash = 0) =>
  pay((tx, { coordinator, identifier, ika, sui }) => {
    const { config } = harness;
    const verified = calls.verifyPresignCap(config, coordinator, tx.object(presignCapId), tx);
    const sign = calls.signDuringDKGRequest(
      config,
      coordinator,
      verified,
      hash,
      MESSAGE,
      new Uint8Array(66),
      tx,
    );
    const [cap] = calls.requestDWalletDKGWithPublicUserSecretKeyShare(
      config,
      coordinator,
      harness.net.networkEncryptionKeyId,
      curve,
      new Uint8Array(10),
      new Uint8Array(34),
      new Uint8Array(10),
      identifier,
      sign,
      ika,
      sui,
      tx,
    ) as unknown as never[];
    return cap;
  });

async function readyPresign(curve: number): Promise<{ id: string; capId: string }> {
  const executed = await harness.run(
    pay((tx, { coordinator, identifier, ika, sui }) => {
      const networkKeyId = harness.net.networkEncryptionKeyId;
      const { config } = harness;
      return calls.requestGlobalPresign(
        ...([config, coordinator, networkKeyId, curve, 0, identifier, ika, sui, tx] as const),
      );
    }),
  );
  const [id] = presignIdsOf(executed) as [string];
  const isReady = (value: typeof PresignSession.$inferType) => value.state.$kind === "Completed";
  const { cap_id } = await contentsWhen(harness, id, PresignSession, isReady);
  return { id, capId: cap_id };
}

/** The values that a simulation of one call returns. */
async function returned(build: (tx: Transaction, coordinator: never) => void): Promise<Uint8Array[]> {
  const tx = new Transaction();
  tx.setSender(hotWallet.toSuiAddress());
  build(tx, harness.coordinator(tx) as never);
  const { commandResults } = await harness.client.simulateTransaction({
    transaction: tx,
    include: { commandResults: true },
  });
  return (commandResults?.[0]?.returnValues ?? []).map((value) => value.bcs);
}

describe("a signature during a DKG", () => {
  test("is completed with the dWallet, and its presign is gone", async () => {
    const presign = await readyPresign(2);
    const executed = await harness.run(dkgWithSign(presign.capId, 2));
    const request = requestOf(executed as never, DWalletDKGRequestEvent);
    const signId = request.sign_during_dkg_request?.sign_id as string;
    const isSettled = (value: typeof SignSession.$inferType) => value.state.$kind !== "Requested";
    const signed = await contentsWhen(harness, signId, SignSession, isSettled);
    expect(signed.dwallet_id).toBe(request.dwallet_id);
    // The cheap MPC signs with the message itself.
    expect(signed.state.Completed?.signature).toEqual([...MESSAGE]);
    await expect(harness.client.getObject({ objectId: presign.id })).rejects.toThrow("not found");
  });

  test("needs a presign of the dWallet's curve and a hash scheme that it has", async () => {
    const { capId } = await readyPresign(2);
    expect(abortOf(await harness.runToFailure(dkgWithSign(capId, 3)))).toBe("coordinator_inner 17");
    expect(abortOf(await harness.runToFailure(dkgWithSign(capId, 2, 5)))).toBe("support_config 1");
  });

  test("costs the price of its own kind", async () => {
    const prices = async () => {
      const [info] = await returned((tx, coordinator) =>
        calls.currentPricing(harness.config, coordinator, tx),
      );
      return PricingInfo.parse(info as Uint8Array).contents;
    };
    const priceOf = async (protocol: number) =>
      BigInt(
        (await prices()).find(({ key }) => key.curve === 2 && key.protocol === protocol)?.value.fee_ika ?? -1,
      );
    const owner = hotWallet.toSuiAddress();
    const ika = async () => {
      const coinType = harness.net.ikaCoinType;
      return BigInt((await harness.client.getBalance({ owner, coinType })).balance.balance);
    };
    const { capId } = await readyPresign(2);
    const before = await ika();
    await harness.run(dkgWithSign(capId, 2));
    expect(before - (await ika())).toBe(await priceOf(10));
    expect((await prices()).map(({ key }) => key.protocol).sort()).toContain(2);
    expect(new Set((await prices()).map(({ key }) => key.protocol))).toEqual(
      new Set([2, 3, 4, 5, 6, 7, 8, 9, 10]),
    );
  });
});

test("get_dwallet shows a dWallet's contents, and aborts for an unknown one", async () => {
  const { capId } = await readyPresign(2);
  const executed = await harness.run(dkgWithSign(capId, 2));
  const { dwallet_id } = requestOf(executed as never, DWalletDKGRequestEvent);
  const [shown] = await returned((tx, coordinator) =>
    calls.getDWallet(harness.config, coordinator, dwallet_id, tx),
  );
  expect(DWallet.parse(shown as Uint8Array).id).toBe(dwallet_id);
  const unknown = (tx: Transaction) =>
    calls.getDWallet(harness.config, harness.coordinator(tx) as never, `0x${"8".repeat(64)}`, tx);
  expect(abortOf(await harness.runToFailure((tx) => void unknown(tx)))).toBe("coordinator_inner 3");
  const [version] = await returned((tx, coordinator) => calls.version(harness.config, coordinator, tx));
  expect(bcs.u64().parse(version as Uint8Array)).toBe("2");
});

test("anyone can give coins to the network", async () => {
  const fees = async () => {
    const id = networkAddresses(LOCALNET_SEED, 4).coordinatorInnerId;
    const { object } = await harness.client.getObject({ objectId: id, include: { content: true } });
    const { pricing_and_fee_manager: held } = CoordinatorInnerDynamicField.parse(object.content).value;
    return [held.fee_charged_ika.value, held.gas_fee_reimbursement_sui_system_call_balance.value].map(BigInt);
  };
  const [ikaBefore, suiBefore] = (await fees()) as [bigint, bigint];
  await harness.run(
    pay((tx, { coordinator, identifier, ika }) => {
      calls.subsidizeCoordinatorWithIka(harness.config, coordinator, tx.splitCoins(ika, [7])[0] as never, tx);
      const [sui] = tx.splitCoins(tx.gas, [11]);
      calls.subsidizeCoordinatorWithSui(harness.config, coordinator, sui as never, tx);
      return identifier;
    }),
  );
  expect(await fees()).toEqual([ikaBefore + 7n, suiBefore + 11n]);
});
