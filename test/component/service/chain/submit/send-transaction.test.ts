/** Whether a stored transaction landed, may land or never can, against a localnet with a real fullnode. */

import { Transaction } from "@mysten/sui/transactions";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { localnetHotWalletSecret } from "../../../../../src/localnet/seed.ts";
import { type ChainNetwork, connectNetwork } from "../../../../../src/service/chain/fullnodes/network.ts";
import { createNetworkReader, type NetworkReader } from "../../../../../src/service/chain/reader.ts";
import type { SignedTransaction } from "../../../../../src/service/chain/submit/build-transaction.ts";
import { createLanes } from "../../../../../src/service/chain/submit/lane.ts";
import { sendTransaction } from "../../../../../src/service/chain/submit/send-transaction.ts";
import { systemClock } from "../../../../../src/service/platform/lifecycle/clock.ts";
import { Secret } from "../../../../../src/service/platform/telemetry/secret.ts";
import { type Harness, payFunds, startHarness } from "../../../localnet/harness.ts";

let harness: Harness;
let network: ChainNetwork;
let reader: NetworkReader;

beforeAll(async () => {
  harness = await startHarness();
  const { url, ikaConfig, treasury } = harness.net;
  network = await connectNetwork({
    clock: systemClock,
    name: "localnet",
    fullnodeUrl: new Secret(url),
    ikaConfig: structuredClone(ikaConfig),
    treasury,
    hotWalletSecret: new Secret(localnetHotWalletSecret()),
  });
  reader = createNetworkReader(network);
}, 60_000);
afterAll(() => harness.close());

/** Uses the OperatorCap, as every paid call does; `amount` makes transactions differ. */
async function signed(amount: number) {
  const tx = new Transaction();
  tx.setSender(network.senderAddress);
  tx.setExpiration({ Epoch: Number((await reader.epoch()).epoch + 1n) });
  tx.transferObjects([tx.object(network.treasury.operatorCapIds[0]!)], network.senderAddress);
  tx.transferObjects([tx.splitCoins(tx.gas, [amount])], network.senderAddress);
  const bytes = await tx.build({ client: network.client });
  const { signature } = await network.hotWallet!.signTransaction(bytes);
  return { digest: await tx.getDigest(), sender: network.senderAddress, bytes, signatures: [signature] };
}
const send = (stored: SignedTransaction) => sendTransaction(network, reader, stored);

describe("a stored transaction", () => {
  it("has the first outcome, however often it is sent", async () => {
    const stored = await signed(1);
    const first = await send(stored);
    expect(first.kind).toBe("landed");
    await send(await signed(2));
    expect(await send(stored)).toEqual(first);
  });

  it("is dead if another transaction has used one of its inputs, however long ago", async () => {
    const [stored, foreign] = [await signed(3), await signed(4)];
    expect((await send(foreign)).kind).toBe("landed");
    const reason = `its input ${network.treasury.operatorCapIds[0]} was used by ${foreign.digest}`;
    const spent = { objectId: network.treasury.operatorCapIds[0], byDigest: foreign.digest };
    const dead = { kind: "dead", reason, spent };
    expect(await send(stored)).toEqual(dead);

    for (const amount of [5, 6, 7]) expect((await send(await signed(amount))).kind).toBe("landed");
    expect(await send(stored)).toEqual(dead);
  });

  it("has no outcome while the fullnode neither accepts it nor knows what used its inputs", async () => {
    const [stored, foreign] = [await signed(8), await signed(9)];
    await send(foreign);
    const lagging: NetworkReader = {
      ...reader,
      effects: async (digest) => (digest === foreign.digest ? undefined : reader.effects(digest)),
    };
    await expect(sendTransaction(network, lagging, stored)).rejects.toThrow(/no outcome yet/);
  });

  it("without coins for its gas lands once, and is dead after its last epoch", async () => {
    await payFunds(harness, network.gasOwnerAddress, 1_000_000_000n);
    const [lane] = createLanes(network, reader);
    const [operatorCap] = (await reader.ownedObjects([lane!.id])).values();
    const redeem = (amount: bigint) =>
      lane!.build(
        { operatorCap: operatorCap!, gasCoins: [] },
        { addCalls: (calls) => calls.redeemGas(amount), sender: network.gasOwner, gas: "address balance" },
        "dry-run",
      );
    const [stored, same, late] = [await redeem(5n), await redeem(5n), await redeem(5n)];
    const first = await send(stored);
    expect(first.kind).toBe("landed");
    expect(await send(stored)).toEqual(first);
    expect((await send(same)).kind).toBe("landed");
    const { balance } = await harness.client.getBalance({ owner: network.gasOwnerAddress });
    expect(BigInt(balance.addressBalance)).toBeLessThan(1_000_000_000n - 2n * 5n);
    const { epoch } = await reader.epoch();
    await harness.net.controls.advanceEpoch();
    expect(await send(late)).toEqual({ kind: "dead", reason: `its last epoch ${epoch} has ended` });
  });
});
