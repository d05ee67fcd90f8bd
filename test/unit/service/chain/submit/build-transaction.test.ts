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
