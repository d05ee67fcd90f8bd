import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CoordinatorInnerModule, IkaClient } from "@ika.xyz/sdk";
import { requestSuiFromFaucetV2 } from "@mysten/sui/faucet";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import {
  ParallelTransactionExecutor,
  SerialTransactionExecutor,
  Transaction,
} from "@mysten/sui/transactions";
import { expect, test } from "vitest";
import type { MpcOutcome } from "../../../src/localnet/mpc/engine.ts";
import { runLocalnet } from "../../../src/localnet/run-localnet.ts";
import { LOCALNET_SEED, localnetHotWalletSecret } from "../../../src/localnet/seed.ts";
import { createCheapMpc } from "../../unit/localnet/cheap-mpc.ts";
import { contentsWhen, hotWallet, payPresigns, presignIdsOf, startHarness } from "./harness.ts";

const { PresignSession } = CoordinatorInnerModule;

test("ids follow from the seed alone, the chain id also from the time of the genesis", async () => {
  const a = await startHarness({ clock: () => 1_000 });
  const b = await startHarness({ clock: () => 2_000 });
  const c = await startHarness({ clock: () => 1_000, seed: new Uint8Array(32).fill(3) });
  expect(a.net.ikaConfig).toEqual(b.net.ikaConfig);
  expect(a.net.treasury).toEqual(b.net.treasury);
  expect(a.net.chainId).not.toBe(b.net.chainId);
  expect(c.net.treasury.treasuryId).not.toBe(a.net.treasury.treasuryId);
  await Promise.all([a.close(), b.close(), c.close()]);
});

test("the public development key has 32 bytes and depends on the seed", () => {
  expect(LOCALNET_SEED).toHaveLength(32);
  expect(localnetHotWalletSecret()).toHaveLength(32);
  expect(localnetHotWalletSecret(new Uint8Array(32))).not.toEqual(localnetHotWalletSecret());
});

test.each(["binary", "text"] as const)(
  "an unmodified IkaClient reads the network over %s",
  async (format) => {
    const harness = await startHarness();
    const client = new SuiGrpcClient({ network: "localnet", baseUrl: harness.net.url, format });
    const ika = new IkaClient({ suiClient: client, config: harness.net.ikaConfig });
    await ika.initialize();
    const key = await ika.getLatestNetworkEncryptionKey();
    expect(key.id).toBe(harness.net.networkEncryptionKeyId);
    expect(key.reconfigurationOutputID).toBeUndefined();
    const output = await ika.readTableVecAsRawBytes(key.networkDKGOutputID);
    expect(output).toEqual(await createCheapMpc().networkDkgPublicOutput());
    expect(await ika.getEpoch()).toBe(1);
    await harness.close();
  },
);

test("objects come as JSON on request, if their JSON form is known", async () => {
  const harness = await startHarness();
  const { treasuryId, operatorCapIds } = harness.net.treasury;
  const [gas] = (await harness.client.listCoins({ owner: hotWallet.toSuiAddress() })).objects;
  const [presignId] = presignIdsOf(await harness.run((tx) => payPresigns(harness, tx)));
  await contentsWhen(harness, presignId!, PresignSession, ({ state }) => state.$kind === "Completed");
  const json = async (objectId: string) =>
    (await harness.client.core.getObject({ objectId, include: { json: true } })).object.json;
  expect(await json(operatorCapIds[0]!)).toEqual({ id: operatorCapIds[0], treasury_id: treasuryId });
  expect(await json(gas!.objectId)).toMatchObject({
    id: gas!.objectId,
    balance: expect.stringMatching(/^\d+$/),
  });
  const key = await json(harness.net.networkEncryptionKeyId);
  expect(key).toMatchObject({ supported_curves: [0, 1, 2, 3], state: { "@variant": "NetworkDKGCompleted" } });
  const { state } = (await json(presignId!)) as { state: { "@variant": string; presign: string } };
  expect(state["@variant"]).toBe("Completed");
  expect(Buffer.from(state.presign, "base64")[0]).toBe(1);
  const { dynamicFields } = await harness.client.core.listDynamicFields({ parentId: treasuryId });
  for (const { fieldId } of dynamicFields) expect(await json(fieldId)).toBeNull();
  const without = await harness.client.core.getObject({ objectId: treasuryId, include: { content: true } });
  expect(without.object.json).toBeUndefined();
  await harness.close();
});

test("the faucet gives as many coins as asked for, also at a port of its own, until the network closes", async () => {
  const harness = await startHarness({ faucetPort: 0, faucetCoinCount: 3 });
  const { faucetUrl, url, ikaCoinType } = harness.net;
  expect(faucetUrl).not.toBe(url);
  const recipient = new Ed25519Keypair().toSuiAddress();
  for (const host of [faucetUrl, url]) {
    const given = await requestSuiFromFaucetV2({ host, recipient });
    expect(given.coins_sent).toHaveLength(6);
  }
  for (const coinType of ["0x2::sui::SUI", ikaCoinType]) {
    const { objects } = await harness.client.listCoins({ owner: recipient, coinType });
    expect(objects.map(({ balance }) => balance)).toEqual(Array(6).fill("1000000000000"));
  }
  await harness.close();
  await expect(requestSuiFromFaucetV2({ host: faucetUrl, recipient })).rejects.toThrow();
});

test("a faucet's port that is taken, or a senseless number of coins, leaves no network behind", async () => {
  const harness = await startHarness();
  const { port } = harness.net;
  await expect(startHarness({ faucetPort: port })).rejects.toThrow("EADDRINUSE");
  for (const faucetCoinCount of [0, 51, 1.5])
    await expect(startHarness({ faucetCoinCount })).rejects.toThrow("a faucet gives 1 to 50 coins");
  await harness.close();
});

test("the faucet gives SUI and IKA to a request of the SDK", async () => {
  const harness = await startHarness();
  const recipient = new Ed25519Keypair().toSuiAddress();
  const given = await requestSuiFromFaucetV2({ host: harness.net.url, recipient });
  expect(given.coins_sent).toHaveLength(2);
  const { balances } = await harness.client.listBalances({ owner: recipient });
  expect(balances.map((balance) => balance.balance)).toEqual(["1000000000000", "1000000000000"]);
  await expect(requestSuiFromFaucetV2({ host: harness.net.url, recipient: "nobody" })).rejects.toThrow(
    "Faucet",
  );
  const { coinMetadata } = await harness.client.getCoinMetadata({ coinType: harness.net.ikaCoinType });
  expect(coinMetadata).toMatchObject({ symbol: "IKA", decimals: 9 });
  await harness.close();
});

test("the MPC gets sessions in the order in which they were opened", async () => {
  const started: string[] = [];
  const cheap = createCheapMpc();
  const mpc = createCheapMpc({
    presign(input): Promise<MpcOutcome> {
      started.push(Buffer.from(input.sessionId).toString("hex"));
      return cheap.presign(input);
    },
  });
  const harness = await startHarness({ mpc });
  const ids = presignIdsOf(await harness.run((tx) => payPresigns(harness, tx, { count: 12 })));
  const outputs: string[] = [];
  for (const id of ids) {
    const done = await contentsWhen(
      harness,
      id,
      PresignSession,
      (value) => value.state.$kind === "Completed",
    );
    outputs.push(Buffer.from(done.state.Completed?.presign.slice(1) ?? []).toString("hex"));
  }
  expect(outputs).toEqual(started);
  await harness.close();
});

test("an MPC call that throws is repeated, and a session that keeps failing is rejected", async () => {
  let calls = 0;
  const flaky = createCheapMpc({
    presign: (input) =>
      ++calls % 3 === 0 ? createCheapMpc().presign(input) : Promise.reject(new Error("worker died")),
  });
  const harness = await startHarness({ mpc: flaky });
  const [first] = presignIdsOf(await harness.run((tx) => payPresigns(harness, tx)));
  const settled = (value: { state: { $kind: string } }) => value.state.$kind !== "Requested";
  const done = await contentsWhen(harness, first as string, PresignSession, settled);
  expect(done.state.$kind).toBe("Completed");
  await harness.close();
  const broken = await startHarness({
    mpc: createCheapMpc({ presign: () => Promise.reject(new Error("worker died")) }),
  });
  const [second] = presignIdsOf(await broken.run((tx) => payPresigns(broken, tx)));
  const rejected = await contentsWhen(broken, second as string, PresignSession, settled);
  expect(rejected.state.$kind).toBe("NetworkRejected");
  await broken.close();
});

test("closing does not wait for an MPC that never answers", async () => {
  const harness = await startHarness({
    mpc: createCheapMpc({ presign: () => new Promise(() => undefined) }),
  });
  await harness.run((tx) => payPresigns(harness, tx, { count: 3 }));
  await harness.close();
});

test("the SDK's serial and parallel executors run on the localnet", async () => {
  const harness = await startHarness();
  const { client } = harness;
  const work = () => {
    const tx = new Transaction();
    const [coin] = tx.splitCoins(tx.gas, [1]);
    tx.transferObjects([coin as never], `0x${"6".repeat(64)}`);
    return tx;
  };
  const serial = new SerialTransactionExecutor({ client, signer: hotWallet });
  for (let index = 0; index < 3; index++) {
    expect((await serial.executeTransaction(work())).$kind).toBe("Transaction");
  }
  const parallel = new ParallelTransactionExecutor({
    client,
    signer: hotWallet,
    maxPoolSize: 4,
    coinBatchSize: 4,
  });
  const results = await Promise.all(Array.from({ length: 8 }, () => parallel.executeTransaction(work())));
  expect(results.every((result) => result.$kind === "Transaction")).toBe(true);
  const { objects } = await client.listCoins({ owner: `0x${"6".repeat(64)}` });
  expect(objects).toHaveLength(11);
  await harness.close();
});

test("a separate localnet prints its ids and writes a configuration that IkaClient accepts", async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), "localnet-run-"));
  const stop = new AbortController();
  const lines: string[] = [];
  let printed: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    printed = resolve;
  });
  const running = runLocalnet({
    dataDirectory,
    mpc: createCheapMpc(),
    signal: stop.signal,
    print(line) {
      lines.push(line);
      if (line.startsWith("hot wallet")) printed();
    },
  });
  await ready;
  const url = lines[0]?.split(/\s{2,}/)[1] as string;
  const config = JSON.parse(await readFile(join(dataDirectory, "ika-config.json"), "utf8"));
  const client = new SuiGrpcClient({ network: "localnet", baseUrl: url });
  const published = JSON.parse(await readFile(join(dataDirectory, "ika_config.json"), "utf8"));
  expect(published).toEqual({
    packages: {
      ika_package_id: config.packages.ikaPackage,
      ika_common_package_id: config.packages.ikaCommonPackage,
      ika_dwallet_2pc_mpc_package_id: config.packages.ikaDwallet2pcMpcPackage,
      ika_system_package_id: config.packages.ikaSystemPackage,
    },
    objects: {
      ika_system_object_id: config.objects.ikaSystemObject.objectID,
      ika_dwallet_coordinator_object_id: config.objects.ikaDWalletCoordinator.objectID,
    },
  });
  expect(lines.some((line) => line.endsWith(join(dataDirectory, "ika_config.json")))).toBe(true);
  const ika = new IkaClient({ suiClient: client, config });
  await ika.initialize();
  expect((await ika.getLatestNetworkEncryptionKey()).id).toMatch(/^0x[0-9a-f]{64}$/);
  stop.abort();
  await running;
  await rm(dataDirectory, { recursive: true });
});
