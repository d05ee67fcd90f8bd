/** A consent that anyone submits over one fullnode, whose answers the test controls. */
import { bcs } from "@mysten/sui/bcs";
import { SimulationError } from "@mysten/sui/client";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { toBase58 } from "@mysten/sui/utils";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { submitLeave, submitRefusal } from "../../../../src/client/sdk/custody/submit-authorization.ts";
import {
  type SignedTreasuryConsent,
  toAuthorization,
} from "../../../../src/client/sdk/custody/treasury-authorization.ts";
import { custodyPlaces } from "../../../../src/protocol/chain/treasury-custody.ts";
import { treasuryContent } from "../../../support/chain/treasury-bytes.ts";

const id = (digit: string): string => `0x${digit.repeat(64)}`;
const [TREASURY, DWALLET, RECIPIENT, CAP, PACKAGE] = [id("1"), id("2"), id("3"), id("4"), id("a")];
const CHAIN = new Uint8Array(32).fill(5);
const NONCE_ENTRY = custodyPlaces(treasuryContent(TREASURY), DWALLET).nonceEntryId;
const DIGEST = toBase58(new Uint8Array(32).fill(8));
const signer = Ed25519Keypair.generate();

/** The fullnode. Each test changes its answers. */
const fullnode = vi.hoisted(() => ({
  chain: "",
  objects: new Map<string, unknown>(),
  /** Whether it lists nothing for the objects that it does not have, instead of errors. */
  isSilent: false,
  simulation: undefined as Error | undefined,
  execution: undefined as unknown,
  transactions: new Map<string, unknown>(),
  sent: [] as Uint8Array[],
  waited: [] as string[],
}));
vi.mock("@mysten/sui/grpc", () => ({
  SuiGrpcClient: class {
    core = {
      getChainIdentifier: async () => ({ chainIdentifier: fullnode.chain }),
      getObjects: async ({ objectIds }: { objectIds: string[] }) => ({
        objects: objectIds.flatMap((objectId) => {
          const missing = fullnode.isSilent ? [] : [new Error("no such object")];
          return fullnode.objects.get(objectId) ?? missing;
        }),
      }),
      getTransaction: async ({ digest }: { digest: string }) => ({
        Transaction: fullnode.transactions.get(digest),
      }),
      waitForTransaction: async ({ digest }: { digest: string }) => void fullnode.waited.push(digest),
      async executeTransaction({ transaction }: { transaction: Uint8Array }) {
        fullnode.sent.push(transaction);
        if (fullnode.execution instanceof Error) throw fullnode.execution;
        return fullnode.execution;
      },
      resolveTransactionPlugin:
        () => async (data: { gasData: object }, _: unknown, next: () => Promise<void>) => {
          if (fullnode.simulation !== undefined) throw fullnode.simulation;
          const payment = [{ objectId: `0x${"9".repeat(64)}`, version: "1", digest: DIGEST_OF_COIN }];
          Object.assign(data.gasData, { payment, price: "1000" });
          await next();
        },
    };
  },
}));
const DIGEST_OF_COIN = "11111111111111111111111111111111";

const leave: SignedTreasuryConsent = {
  ...{ action: "leave", treasuryId: TREASURY, dwalletId: DWALLET, recipient: RECIPIENT, chain: CHAIN },
  ...{
    nonce: 4n,
    expiresEpoch: 9n,
    publicKey: new Uint8Array(32).fill(6),
    signature: new Uint8Array(64).fill(7),
  },
};
const { recipient: _, ...withoutRecipient } = leave;
const refusal: SignedTreasuryConsent = { ...withoutRecipient, action: "refuse" };
const args = (consent: SignedTreasuryConsent, more: object = {}) => ({
  ...{ authorization: toAuthorization(consent), fullnode: "http://fullnode.test", signer, ...more },
});
const event = (name: string, ...addresses: string[]) => ({
  eventType: `${PACKAGE}::custody::${name}`,
  bcs: Uint8Array.from(addresses.flatMap((address) => [...bcs.Address.serialize(address).toBytes()])),
});
const left = (recipient = RECIPIENT, treasury = TREASURY, dwallet = DWALLET) =>
  event("DWalletLeft", treasury, dwallet, CAP, id("5"), recipient);
const refused = (treasury = TREASURY, dwallet = DWALLET) =>
  event("ReleaseRefused", treasury, dwallet, id("5"));
const success = (...events: object[]) => ({
  Transaction: { digest: DIGEST, status: { success: true }, events },
});
const abort = (module: string, code: string) => ({
  ...{ message: "an abort", $kind: "MoveAbort", MoveAbort: { abortCode: code, location: { module } } },
});
const failed = (error: object) => ({
  FailedTransaction: { digest: DIGEST, status: { success: false, error } },
});

beforeEach(() => {
  Object.assign(fullnode, { chain: toBase58(CHAIN), simulation: undefined, execution: success(left()) });
  Object.assign(fullnode, { transactions: new Map(), sent: [], waited: [], isSilent: false });
  fullnode.objects = new Map([
    [
      TREASURY,
      {
        type: `${PACKAGE}::treasury::Treasury`,
        owner: { $kind: "Shared", Shared: { initialSharedVersion: "3" } },
        content: treasuryContent(TREASURY),
      },
    ],
  ]);
});

describe("an authorization to leave", () => {
  it("is sent with its exact values by the signer, and the result is what the chain did", async () => {
    expect(await submitLeave(args(leave))).toEqual({
      ...{ transactionDigest: DIGEST, dwalletCapId: CAP, dwalletId: DWALLET, recipient: RECIPIENT },
    });
    expect(fullnode.waited).toEqual([DIGEST]);
    const { sender, gasData, commands, inputs } = Transaction.from(fullnode.sent[0]!).getData();
    expect([sender, gasData.budget]).toEqual([signer.toSuiAddress(), "50000000"]);
    expect(commands[0]?.MoveCall).toMatchObject({ package: PACKAGE, module: "treasury", function: "leave" });
    expect(inputs[0]?.Object?.SharedObject).toMatchObject({
      ...{ objectId: TREASURY, initialSharedVersion: "3", mutable: true },
    });
    const pure = inputs.slice(1).map((input) => Buffer.from(input.Pure!.bytes, "base64"));
    const bytes = (value: Uint8Array) => Buffer.from(bcs.byteVector().serialize(value).toBytes());
    const address = (value: string) => Buffer.from(bcs.Address.serialize(value).toBytes());
    const u64 = (value: bigint) => Buffer.from(bcs.u64().serialize(value).toBytes());
    expect(pure).toEqual([
      ...[address(DWALLET), bytes(CHAIN), address(RECIPIENT), u64(4n), u64(9n)],
      ...[bytes(leave.publicKey), bytes(leave.signature)],
    ]);
  });

  it("uses the newest package if the caller names it", async () => {
    await submitLeave(args(leave, { packageId: id("b") }));
    const { commands } = Transaction.from(fullnode.sent[0]!).getData();
    expect(commands[0]?.MoveCall?.package).toBe(id("b"));
  });

  it("is not sent to another chain than the one that the user signed for", async () => {
    fullnode.chain = toBase58(new Uint8Array(32));
    await expect(submitLeave(args(leave))).rejects.toMatchObject({ reason: "NETWORK_MISMATCH" });
    expect(fullnode.sent).toEqual([]);
  });

  it.each([
    ["does not exist", undefined],
    ["is no Treasury", { type: `${PACKAGE}::other::Treasury` }],
    ["is not shared", { owner: { $kind: "AddressOwner" } }],
    ["has no owner", { owner: null }],
    ["was shared at no version", { owner: { $kind: "Shared", Shared: {} } }],
    ["has no contents", { content: undefined }],
  ])("is not sent to an object that %s", async (_, change) => {
    if (change === undefined) fullnode.objects.clear();
    else fullnode.objects.set(TREASURY, { ...(fullnode.objects.get(TREASURY) as object), ...change });
    await expect(submitLeave(args(leave))).rejects.toMatchObject({
      ...{ reason: "TREASURY_MISMATCH", metadata: { treasuryId: TREASURY } },
    });
    expect(fullnode.sent).toEqual([]);
  });

  it("is not sent if the fullnode's answer lists no object", async () => {
    fullnode.objects.clear();
    fullnode.isSilent = true;
    await expect(submitLeave(args(leave))).rejects.toMatchObject({
      ...{ reason: "TREASURY_MISMATCH", metadata: { treasuryId: TREASURY } },
    });
    expect(fullnode.sent).toEqual([]);
  });

  it.each([
    ["no event", []],
    ["an exit to another recipient", [left(id("6"))]],
    ["an exit from another Treasury", [left(RECIPIENT, id("6"))]],
    ["an exit of another dWallet", [left(RECIPIENT, TREASURY, id("6"))]],
    ["a refusal", [refused()]],
  ])("is not confirmed by a transaction with %s", async (_, events) => {
    fullnode.execution = success(...events);
    await expect(submitLeave(args(leave))).rejects.toMatchObject({
      ...{ reason: "CHAIN_UNAVAILABLE", metadata: { transactionDigest: DIGEST } },
    });
  });

  it.each([
    ["custody", "9", /its nonce is not the next one/],
    ["custody", "1", /does not hold the dWallet's capability/],
    ["treasury", "1", /pass its newest package/],
    ["custody", "77", /an abort/],
  ])("that the Treasury refuses is refused with the abort %s:%s", async (module, code, why) => {
    fullnode.execution = failed(abort(module, code));
    const refusedFor = { reason: "AUTHORIZATION_REFUSED", metadata: { abort: `${module}:${code}` } };
    await expect(submitLeave(args(leave))).rejects.toMatchObject(refusedFor);
    await expect(submitLeave(args(leave))).rejects.toThrow(why);
    // A dry run tells the same.
    fullnode.simulation = new SimulationError("aborted", { executionError: abort(module, code) as never });
    await expect(submitLeave(args(leave))).rejects.toMatchObject(refusedFor);
  });

  it.each([
    ["the Treasury then refuses it", "AUTHORIZATION_REFUSED", { execution: failed(abort("custody", "9")) }],
    ["the reply was lost", "CHAIN_UNAVAILABLE", { execution: new Error("the connection broke") }],
    ["a dry run then fails", "AUTHORIZATION_REFUSED", { simulation: new SimulationError("no", {}) }],
  ])("that was used before has that transaction's result, also if %s", async (_, reason, change) => {
    Object.assign(fullnode, change);
    fullnode.objects.set(NONCE_ENTRY, { previousTransaction: "earlier" });
    fullnode.transactions.set("earlier", { events: [left()] });
    expect(await submitLeave(args(leave))).toMatchObject({ transactionDigest: "earlier", dwalletCapId: CAP });
    // The last use was that of another consent.
    fullnode.transactions.set("earlier", { events: [left(id("6"))] });
    await expect(submitLeave(args(leave))).rejects.toMatchObject({ reason });
    // The last transaction failed, or the fullnode no longer has it.
    fullnode.transactions.delete("earlier");
    await expect(submitLeave(args(leave))).rejects.toMatchObject({ reason });
    // The fullnode's answer lists no object.
    fullnode.objects.delete(NONCE_ENTRY);
    fullnode.isSilent = true;
    await expect(submitLeave(args(leave))).rejects.toMatchObject({ reason });
  });

  it("may be submitted again if the fullnode did not confirm it", async () => {
    fullnode.execution = new Error("the connection broke");
    await expect(submitLeave(args(leave))).rejects.toMatchObject({
      ...{ reason: "CHAIN_UNAVAILABLE", message: expect.stringContaining("submit it again") },
    });
  });
});

describe("an authorization to refuse", () => {
  it("is sent without a recipient, and is confirmed by the Treasury's own event", async () => {
    fullnode.execution = success(left(), refused());
    expect(await submitRefusal(args(refusal))).toEqual({ dwalletId: DWALLET });
    const { commands, inputs } = Transaction.from(fullnode.sent[0]!).getData();
    expect(commands[0]?.MoveCall?.function).toBe("refuse_release");
    expect(inputs).toHaveLength(7);
    for (const other of [refused(id("6")), refused(TREASURY, id("6")), left()]) {
      fullnode.execution = success(other);
      await expect(submitRefusal(args(refusal))).rejects.toMatchObject({ reason: "CHAIN_UNAVAILABLE" });
    }
  });

  it("is no authorization to leave, nor the other way round", async () => {
    const wrong = { reason: "VALIDATION", metadata: { field: "authorization.action" } };
    await expect(submitLeave(args(refusal))).rejects.toMatchObject(wrong);
    await expect(submitRefusal(args(leave))).rejects.toMatchObject(wrong);
    expect(fullnode.sent).toEqual([]);
  });
});
