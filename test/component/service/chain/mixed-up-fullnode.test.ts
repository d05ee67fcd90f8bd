/** How each of the service's reads handles a fullnode that returns the answer to another request, on a localnet. */

import { bcs } from "@mysten/sui/bcs";
import type { GrpcTypes } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { localnetHotWalletSecret } from "../../../../src/localnet/seed.ts";
import { type MixedUpAnswerError, mixUpIn } from "../../../../src/protocol/chain/read-errors.ts";
import { sessionIdentifierPreimage } from "../../../../src/protocol/chain/session-identifier.ts";
import { type ChainNetwork, connectNetwork } from "../../../../src/service/chain/fullnodes/network.ts";
import { createPaymentReader } from "../../../../src/service/chain/payment-reader.ts";
import { createNetworkReader, type NetworkReader } from "../../../../src/service/chain/reader.ts";
import { createTransactionHistory } from "../../../../src/service/chain/restore/lost-transactions.ts";
import { sendTransaction } from "../../../../src/service/chain/submit/send-transaction.ts";
import { createTreasuryReader } from "../../../../src/service/chain/treasury/treasury-reader.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import { Secret } from "../../../../src/service/platform/telemetry/secret.ts";
import { createMixingFullnode, type Method, type MixUp } from "../../../support/chain/mixing-fullnode.ts";
import { SUI } from "../../../support/database/deposits.ts";
import {
  createUser,
  type Harness,
  hotWallet,
  payDkg,
  payPresigns,
  presignIdsOf,
  registerKey,
  session,
  startHarness,
} from "../../localnet/harness.ts";

const TIMEOUT_MS = 60_000;
const fullnode = createMixingFullnode();
const reported: MixedUpAnswerError[] = [];
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
    fetch: fullnode.fetch,
    onMixUp: (mixUp) => void reported.push(mixUp),
  });
  reader = createNetworkReader(network);
}, TIMEOUT_MS);
afterAll(() => harness.close());
beforeEach(() => void reported.splice(0));

/**
 * Expects that the read fails twice, because reads are retried once, and is reported; and that honest answers are
 * accepted again afterwards.
 */
async function refuses(
  read: () => Promise<unknown>,
  method: Method,
  mixUp: MixUp,
  name: string,
): Promise<MixedUpAnswerError> {
  const honest = await read();
  const error = await fullnode.mixing(method, mixUp, () => read().then(() => undefined, mixUpIn));
  expect(error?.read).toBe(name);
  expect(reported.map((one) => one.read)).toContain(name);
  expect(await read()).toEqual(honest);
  return error!;
}

const twoPresigns = async () =>
  presignIdsOf(await harness.run((tx) => payPresigns(harness, tx, { count: 2 })));

describe("objects", () => {
  const asking = (from: string, to: string) => ({
    question: ({ requests }: GrpcTypes.BatchGetObjectsRequest) => {
      for (const request of requests) if (request.objectId === from) request.objectId = to;
    },
  });
  const named = (to: string, as: string) => ({
    answer: ({ objects }: GrpcTypes.BatchGetObjectsResponse) => {
      for (const { result } of objects)
        if (result.oneofKind === "object" && result.object.objectId === to) result.object.objectId = as;
    },
  });

  it("are not mixed up, and the error names those without an answer", async () => {
    const [one, two] = (await twoPresigns()) as [string, string];
    const read = () => reader.getObjects([one, two]);
    expect((await refuses(read, "BatchGetObjects", asking(one, two), "object")).objectIds).toEqual([one]);
  });

  it("are checked against the ids in their contents, whatever id the answer gives", async () => {
    const [one, two] = (await twoPresigns()) as [string, string];
    const mixUp = { ...asking(one, two), ...named(two, one) };
    await refuses(() => reader.getObjects([one]), "BatchGetObjects", mixUp, "object");
  });

  it("are not reported as absent when the answer lacks other ones", async () => {
    const [one, two] = (await twoPresigns()) as [string, string];
    const mixUp = { answer: ({ objects }: GrpcTypes.BatchGetObjectsResponse) => void objects.pop() };
    await refuses(() => reader.getObjects([one, two]), "BatchGetObjects", mixUp, "object");
  });

  it("of the hot wallet are not mixed up", async () => {
    const [one, two] = network.treasury.operatorCapIds as [string, string];
    await refuses(() => reader.ownedObjects([one]), "BatchGetObjects", asking(one, two), "object");
  });

  it("of the Treasury are not mixed up", async () => {
    const treasury = createTreasuryReader(network);
    const { treasuryId, operatorCapIds } = network.treasury;
    const mixUp = asking(treasuryId, operatorCapIds[0]!);
    const read = () => treasury.state();
    const honest = await read();
    await expect(fullnode.mixing("BatchGetObjects", mixUp, read)).rejects.toMatchObject({
      reason: "CHAIN_UNAVAILABLE",
    });
    expect(reported).toMatchObject([{ read: "object" }, { read: "object" }]);
    expect(await read()).toEqual(honest);
  });
});

describe("listings", () => {
  it("contain only fields of the requested table", async () => {
    const treasury = createTreasuryReader(network);
    const mixUp = {
      question: (request: GrpcTypes.ListDynamicFieldsRequest) => {
        request.parent = network.coordinatorRef.objectId;
      },
    };
    await refuses(() => treasury.ceilings(), "ListDynamicFields", mixUp, "field");
  });

  it("contain only coins of the owner", async () => {
    const owner = new Ed25519Keypair().toSuiAddress();
    await harness.run((tx) => void tx.transferObjects([tx.splitCoins(tx.gas, [5])], owner));
    const mixUp = {
      question: (request: GrpcTypes.ListOwnedObjectsRequest) => {
        request.owner = hotWallet.toSuiAddress();
      },
    };
    await refuses(() => reader.gasCoins(owner), "ListOwnedObjects", mixUp, "owner");
    const payments = createPaymentReader(network);
    await refuses(() => payments.ownedCoins(owner, SUI.coinType), "ListOwnedObjects", mixUp, "owner");
  });

  it("contain only coins of the requested type", async () => {
    const payments = createPaymentReader(network);
    const owner = hotWallet.toSuiAddress();
    const mixUp = {
      question: (request: GrpcTypes.ListOwnedObjectsRequest) => delete request.objectType,
    };
    await refuses(() => payments.ownedCoins(owner, SUI.coinType), "ListOwnedObjects", mixUp, "owner");
  });
});

describe("transactions", () => {
  const asking = (digest: string) => ({
    question: (request: GrpcTypes.GetTransactionRequest) => {
      request.digest = digest;
    },
  });
  const pay = () =>
    harness.run((tx) => void tx.transferObjects([tx.splitCoins(tx.gas, [7])], hotWallet.toSuiAddress()));

  it("are not mixed up by any read", async () => {
    const [{ digest }, other] = [await pay(), await harness.run((tx) => payPresigns(harness, tx))];
    const payments = createPaymentReader(network);
    const history = createTransactionHistory(network);
    for (const read of [
      () => reader.transaction(digest),
      () => reader.effects(digest),
      () => payments.payments(digest, [SUI.coinType]),
      () => history.read(digest),
    ])
      await refuses(read, "GetTransaction", asking(other.digest), "transaction");
  });

  it.each(["effects", "events", "transaction"] as const)("do not get the %s of another one", async (part) => {
    const [{ digest }, other] = [
      await harness.run((tx) => payPresigns(harness, tx)),
      await harness.run((tx) => payPresigns(harness, tx)),
    ];
    const { response } = await harness.client.ledgerService.getTransaction({
      digest: other.digest,
      readMask: { paths: ["*"] },
    });
    const mixUp = {
      answer: ({ transaction }: GrpcTypes.GetTransactionResponse) => {
        Object.assign(transaction!, { [part]: response.transaction![part] });
      },
    };
    const history = createTransactionHistory(network);
    await refuses(() => history.read(digest), "GetTransaction", mixUp, "transaction");
  });

  it("pay exactly the sum of their coins", async () => {
    const payee = new Ed25519Keypair().toSuiAddress();
    const { digest } = await harness.run(
      (tx) => void tx.transferObjects([tx.splitCoins(tx.gas, [9])], payee),
    );
    const payments = createPaymentReader(network);
    const mixUp = {
      answer: ({ transaction }: GrpcTypes.GetTransactionResponse) => {
        for (const change of transaction!.balanceChanges) if (change.address === payee) change.amount = "900";
      },
    };
    const read = () => payments.payments(digest, [SUI.coinType]);
    expect(await read()).toMatchObject([{ amount: 9n }]);
    expect(await fullnode.mixing("GetTransaction", mixUp, () => read().catch(mixUpIn))).toMatchObject({
      read: "coin",
    });
  });

  it("have no outcome while the fullnode answers for another one", async () => {
    const { response: other } = await harness.client.ledgerService.getTransaction({
      digest: (await harness.run((inner) => payPresigns(harness, inner))).digest,
      readMask: { paths: ["*"] },
    });
    const failed = structuredClone(other.transaction!);
    failed.effects!.status = { success: false };
    const tx = new Transaction();
    tx.setSender(network.senderAddress);
    tx.setExpiration({ Epoch: Number((await reader.epoch()).epoch + 1n) });
    tx.transferObjects([tx.splitCoins(tx.gas, [11])], network.senderAddress);
    const bytes = await tx.build({ client: harness.client });
    const { signature } = await network.hotWallet!.signTransaction(bytes);
    const stored = { digest: await tx.getDigest(), bytes, signatures: [signature] };
    for (const transaction of [other.transaction, failed]) {
      const answer = (reply: { transaction?: unknown }) => {
        reply.transaction = transaction;
      };
      const sending = () => sendTransaction(network, reader, stored);
      const ended = fullnode.mixing("ExecuteTransaction", { answer }, () =>
        fullnode.mixing("GetTransaction", { answer }, sending),
      );
      await expect(ended).rejects.toSatisfy((error) => mixUpIn(error)?.read === "transaction");
    }
    expect((await sendTransaction(network, reader, stored)).kind).toBe("landed");
  });
});

describe("marks on the chain", () => {
  it("of a session are not taken from another one, and another one's do not count as absence", async () => {
    const [own, other] = [session(), session()];
    const user = createUser();
    await registerKey(harness, user);
    await harness.run((tx) => payDkg(harness, tx, user, { session: own }));
    const { digest } = await harness.run((tx) => payDkg(harness, tx, user, { session: other }));
    const mixUp = {
      answer: ({ objects }: GrpcTypes.BatchGetObjectsResponse) => {
        const [first] = objects;
        if (first?.result.oneofKind === "object") first.result.object.previousTransaction = digest;
      },
    };
    const preimage = sessionIdentifierPreimage(own, network.senderAddress);
    const read = () => reader.sessionRequest(preimage);
    await refuses(read, "BatchGetObjects", mixUp, "session");
  });

  it("of a signer are not taken from another signer", async () => {
    const [own, other] = [createUser(), createUser()];
    for (const user of [own, other]) await registerKey(harness, user);
    const otherId = (await reader.registeredEncryptionKey(other.address))!.id;
    const mixUp = {
      answer: (reply: GrpcTypes.SimulateTransactionResponse) => {
        const value = reply.commandOutputs[0]?.returnValues[0]?.value;
        if (value) value.value = bcs.Address.serialize(otherId).toBytes();
      },
    };
    await refuses(() => reader.registeredEncryptionKey(own.address), "SimulateTransaction", mixUp, "key");
  });
});

it("a coin's decimals are not taken from another coin", async () => {
  const payments = createPaymentReader(network);
  const ika = `${network.ikaConfig.packages.ikaPackage}::ika::IKA`;
  const mixUp = {
    question: (request: GrpcTypes.GetCoinInfoRequest) => {
      request.coinType = ika;
    },
  };
  const read = () => payments.coinMetadata(SUI.coinType);
  expect(await read()).toMatchObject({ symbol: "SUI" });
  // The client reports only that it has no decimals; the service then does not accept the coin.
  expect(await fullnode.mixing("GetCoinInfo", mixUp, read)).toBeUndefined();
  expect(reported).toMatchObject([{ read: "coin" }]);
});
