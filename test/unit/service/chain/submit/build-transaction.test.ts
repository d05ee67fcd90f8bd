/** Blocks as transactions, and the answers of a fullnode that refuse one. */
import { SimulationError } from "@mysten/sui/client";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { toBase58 } from "@mysten/sui/utils";
import { expect, it } from "vitest";
import type { ChainNetwork } from "../../../../../src/service/chain/fullnodes/network.ts";
import {
  type BlockContent,
  buildTransaction,
  DryRunRefused,
  type Trial,
} from "../../../../../src/service/chain/submit/build-transaction.ts";
import { systemClock } from "../../../../../src/service/platform/lifecycle/clock.ts";
import { objectId } from "../../../../support/database/rows.ts";

const [hotWallet, gasStation] = [Ed25519Keypair.generate(), Ed25519Keypair.generate()];
const EPOCH = 7n;
const CHAIN = toBase58(new Uint8Array(32).fill(3));
const coin = { objectId: objectId(), version: "4", digest: toBase58(new Uint8Array(32)) };
const operatorCap = { ...coin, objectId: objectId() };

/** Builds a block of no calls. The dry run fails with `refusal`. */
function build(
  content: Partial<BlockContent> = {},
  {
    trial = "on-chain" as Trial,
    gasOwner = hotWallet as Ed25519Keypair | undefined,
    refusal = {} as unknown,
  } = {},
) {
  const network = {
    ...{ hotWallet, gasOwner, gasOwnerAddress: (gasOwner ?? hotWallet).toSuiAddress() },
    ...{ clock: systemClock, times: { buildMs: 60_000 } },
    backOff: { run: <T>(call: () => Promise<T>) => call() },
    client: {
      core: {
        resolveTransactionPlugin: () => async () => {
          throw refusal;
        },
      },
    },
  };
  const reader = {
    epoch: async () => ({ epoch: EPOCH, gasPriceMist: 1_000n }),
    chainIdentifier: async () => CHAIN,
  };
  const objects = { operatorCap, gasCoins: [coin] };
  const block = { addCalls() {}, ...content };
  return buildTransaction(network as unknown as ChainNetwork, reader as never, objects, block, trial);
}

it("a block that coins pay for can land in this epoch and the next one", async () => {
  const { bytes, sender, signatures, digest } = await build();
  const data = Transaction.from(bytes).getData();
  expect(data.expiration).toMatchObject({ Epoch: Number(EPOCH + 1n) });
  expect(data.gasData).toMatchObject({ owner: hotWallet.toSuiAddress(), payment: [coin], price: "1000" });
  expect([sender, data.sender]).toEqual([hotWallet.toSuiAddress(), hotWallet.toSuiAddress()]);
  expect(digest).toBe(await Transaction.from(bytes).getDigest());
  expect(signatures).toHaveLength(1);
});

it("a block that an address balance pays for can land once, in this epoch alone", async () => {
  const [first, second] = [await build({ gas: "address balance" }), await build({ gas: "address balance" })];
  const data = Transaction.from(first.bytes).getData();
  expect(data.gasData.payment).toEqual([]);
  expect(data.expiration?.ValidDuring).toMatchObject({
    ...{ minEpoch: String(EPOCH), maxEpoch: String(EPOCH), chain: CHAIN },
  });
  expect(first.digest).not.toBe(second.digest);
});

it("the sender and the owner of the gas sign a block, each once", async () => {
  const both = await build({}, { gasOwner: gasStation });
  expect(await signersOf(both)).toEqual([hotWallet.toSuiAddress(), gasStation.toSuiAddress()]);
  const swept = Ed25519Keypair.generate();
  const own = await build({ sender: swept });
  expect(own.sender).toBe(swept.toSuiAddress());
  expect(await signersOf(own)).toEqual([swept.toSuiAddress(), hotWallet.toSuiAddress()]);
});

it("a process without a key builds nothing", async () => {
  const network = { hotWallet: undefined, gasOwner: undefined } as ChainNetwork;
  const objects = { operatorCap, gasCoins: [coin] };
  await expect(
    buildTransaction(network, {} as never, objects, { addCalls() {} }, "on-chain"),
  ).rejects.toThrow("no key to sign with");
});

it.each(["INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION", "OUT_OF_RANGE"])(
  "the code %s of a dry run refuses the block",
  async (code) => {
    const cause = Object.assign(new Error("wrong"), { code });
    const refusal = new SimulationError("the fullnode refuses it", { cause });
    const refused = await build({}, { trial: "dry-run", refusal }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DryRunRefused);
    expect((refused as DryRunRefused).failure).toEqual({
      ...{ kind: "InvalidTransaction", message: "the fullnode refuses it" },
    });
  },
);

it("an abort in a dry run refuses the block, with the abort", async () => {
  const executionError = {
    ...{ $kind: "MoveAbort", message: "abort 4" },
    MoveAbort: { abortCode: "4", location: { module: "treasury" } },
  };
  const refusal = new SimulationError("aborted", { executionError: executionError as never });
  await expect(build({}, { trial: "dry-run", refusal })).rejects.toMatchObject({
    failure: { kind: "MoveAbort", abort: { module: "treasury", code: 4 } },
  });
});

it("a fault of the fullnode or of this process refuses no block", async () => {
  const faults = [
    new SimulationError("away", { cause: Object.assign(new Error("x"), { code: "UNAVAILABLE" }) }),
    new SimulationError("away", { cause: new Error("without a code") }),
    new SimulationError("away", { cause: { code: "NOT_FOUND" } }),
    Object.assign(new Error("no simulation"), { code: "NOT_FOUND" }),
  ];
  for (const refusal of faults) await expect(build({}, { trial: "dry-run", refusal })).rejects.toBe(refusal);
});

/** Returns the addresses of the signers, in the order of their signatures. */
async function signersOf({ bytes, signatures }: Awaited<ReturnType<typeof build>>): Promise<string[]> {
  const { verifyTransactionSignature } = await import("@mysten/sui/verify");
  const keys = await Promise.all(signatures.map((signature) => verifyTransactionSignature(bytes, signature)));
  return keys.map((key) => key.toSuiAddress());
}

it("a block whose dry run fails is refused with the reason that the SDK reads, and is not signed", async () => {
  const executionError = {
    ...{ $kind: "MoveAbort", message: "abort 4" },
    MoveAbort: { abortCode: "4", location: { module: "treasury" } },
  };
  const refusal = new SimulationError("aborted", { executionError: executionError as never });
  const answers = [
    async () => ({ response: answer({ success: false }) }),
    async () => {
      throw Object.assign(new Error("wrong"), { code: "INVALID_ARGUMENT" });
    },
  ];
  for (const simulateTransaction of answers)
    await expect(buildCalls(simulateTransaction, refusal)).rejects.toMatchObject({
      failure: { kind: "MoveAbort", abort: { module: "treasury", code: 4 } },
    });
  const away = Object.assign(new Error("away"), { code: "UNAVAILABLE" });
  const unreachable = async () => {
    throw away;
  };
  await expect(buildCalls(unreachable, refusal)).rejects.toBe(away);
});

it("a block has the budget of its dry run", async () => {
  const { bytes } = await buildCalls(async () => ({ response: answer({ success: true }) }), undefined);
  expect(Transaction.from(bytes).getData().gasData.budget).toBe(String(BUDGET));
});

const BUDGET = 12_345n;

/** A fullnode's answer to a dry run, which always has a budget. */
const answer = (status: { readonly success: boolean }) => ({
  transaction: { transaction: { gasPayment: { budget: BUDGET } }, effects: { status } },
});

/** Builds a block of one call. The SDK's own dry run fails with `refusal`. */
function buildCalls(simulateTransaction: () => Promise<unknown>, refusal: unknown) {
  const ref = { objectId: objectId(), initialSharedVersion: "1" };
  const network = {
    ...{ hotWallet, gasOwner: hotWallet, gasOwnerAddress: hotWallet.toSuiAddress() },
    ...{ clock: systemClock, times: { buildMs: 60_000 }, treasuryRef: ref },
    coordinatorRef: { ...ref, objectId: objectId() },
    ikaConfig: { packages: { ikaDwallet2pcMpcPackage: objectId() } },
    treasury: { packageId: objectId() },
    backOff: { run: <T>(call: () => Promise<T>) => call() },
    client: {
      transactionExecutionService: { simulateTransaction },
      core: {
        resolveTransactionPlugin: () => async () => {
          throw refusal;
        },
      },
    },
  };
  const reader = { epoch: async () => ({ epoch: EPOCH, gasPriceMist: 1_000n }) };
  const block: BlockContent = {
    addCalls: (calls) =>
      calls.payPresigns({
        ...{ networkEncryptionKeyId: objectId(), curve: 0, signatureAlgorithm: 0 },
        sessionBytes: [new Uint8Array(32)],
      }),
  };
  const objects = { operatorCap, gasCoins: [coin] };
  return buildTransaction(network as unknown as ChainNetwork, reader as never, objects, block, "dry-run");
}
