/** Blocks that the service encodes itself, against the SDK's transactions, octet by octet. */
import { GrpcTypes, SuiGrpcClient } from "@mysten/sui/grpc";
import { Transaction } from "@mysten/sui/transactions";
import { normalizeSuiAddress, toBase58 } from "@mysten/sui/utils";
import { bytesToHex } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChainNetwork } from "../../../../../src/service/chain/fullnodes/network.ts";
import {
  type BlockFrame,
  blockMessage,
  createMoveBlock,
  encodeBlock,
} from "../../../../../src/service/chain/submit/move-block.ts";
import {
  createMoveCalls,
  createTreasuryCalls,
  type MoveCalls,
} from "../../../../../src/service/chain/treasury/treasury-calls.ts";
import { environment } from "../../../../support/environment.ts";

const BLOCK_COUNT = environment.isReference ? 20_000 : 1_000;

const bytesOf = (count: number) => fc.uint8Array({ minLength: count, maxLength: count });
const octets = fc.oneof(
  { weight: 30, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(127, 128, 16_383, 16_384).map((count) => new Uint8Array(count).fill(7)),
  },
);
/** Also short ones, which the SDK completes. */
const id = fc.oneof(
  bytesOf(32).map((bytes) => `0x${bytesToHex(bytes)}`),
  fc.integer({ min: 1, max: 0xffff }).map((value) => `0x${value.toString(16)}`),
);
const digest = bytesOf(32).map((bytes) => toBase58(bytes));
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const u32 = fc.nat(0xffff_ffff);
const owned = fc.record({ objectId: id, version: u64.map(String), digest });
const shared = fc.record({ objectId: id, initialSharedVersion: u64.map(String) });

type Add = (calls: MoveCalls) => void;

const call: fc.Arbitrary<Add> = fc.oneof(
  fc
    .record({
      dwalletId: id,
      presignId: id,
      curve: u32,
      signatureAlgorithm: u32,
      hashScheme: u32,
      message: octets,
      userSignMessage: octets,
      sessionBytes: octets,
      requestReference: octets,
    })
    .map((sign) => (calls: MoveCalls) => calls.paySign(sign)),
  fc
    .record({
      networkEncryptionKeyId: id,
      curve: u32,
      signatureAlgorithm: u32,
      sessionBytes: fc.array(octets, { maxLength: 5 }),
    })
    .map((presigns) => (calls: MoveCalls) => calls.payPresigns(presigns)),
  fc
    .record({
      networkEncryptionKeyId: id,
      curve: u32,
      userDkgMessage: octets,
      encryptedUserShareAndProof: octets,
      encryptionKeyAddress: id,
      userPublicOutput: octets,
      signerPublicKey: octets,
      sessionBytes: octets,
      requestReference: octets,
    })
    .map((dkg) => (calls: MoveCalls) => calls.payDkg(dkg)),
  fc
    .record({ curve: u32, encryptionKey: octets, signature: octets, signerPublicKey: octets })
    .map((key) => (calls: MoveCalls) => calls.registerEncryptionKey(key)),
  fc
    .record({ dwalletId: id, encryptedUserSecretKeyShareId: id, userOutputSignature: octets })
    .map((share) => (calls: MoveCalls) => calls.acceptEncryptedUserShare(share)),
  fc
    .record({
      action: fc.constantFrom("leave" as const, "refuse_release" as const),
      treasuryId: id,
      dwalletId: id,
      chain: octets,
      recipient: fc.option(id, { nil: undefined }),
      nonce: u64,
      expiresEpoch: u64,
      publicKey: octets,
      signature: octets,
    })
    .map(
      (consent) => (calls: MoveCalls) => calls.useConsent(consent as Parameters<MoveCalls["useConsent"]>[0]),
    ),
);

const block = fc.record({
  packages: fc.record({ treasury: id, ika: id }),
  treasuryRef: shared,
  coordinatorRef: shared,
  operatorCap: owned,
  calls: fc.array(call, { minLength: 1, maxLength: 4 }),
  sender: id,
  gasOwner: id,
  gasCoins: fc.array(owned, { minLength: 1, maxLength: 3 }),
  gasPriceMist: fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }),
  budgetMist: fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }),
  lastEpoch: fc.nat().map(BigInt),
});

type Block = typeof block extends fc.Arbitrary<infer T> ? T : never;

/** Adds the same calls to a block of our own and to one of the SDK. */
function bothOf({ packages, calls, operatorCap, ...refs }: Block) {
  const network = {
    ...refs,
    ikaConfig: { packages: { ikaDwallet2pcMpcPackage: packages.ika } },
    treasury: { packageId: packages.treasury },
  } as unknown as ChainNetwork;
  const own = createMoveBlock();
  const tx = new Transaction();
  for (const add of calls) {
    add(createMoveCalls(own.builder, network, operatorCap));
    add(createTreasuryCalls(tx, network, operatorCap));
  }
  const { sender, gasOwner, gasCoins, gasPriceMist, lastEpoch } = refs;
  const frame: BlockFrame = {
    ...{ gasCoins, gasPriceMist, lastEpoch },
    // The signers' addresses are complete.
    ...{ sender: normalizeSuiAddress(sender), gasOwner: normalizeSuiAddress(gasOwner) },
  };
  tx.setSender(frame.sender);
  tx.setGasOwner(frame.gasOwner);
  tx.setGasPayment([...gasCoins]);
  tx.setGasPrice(gasPriceMist);
  tx.setExpiration({ Epoch: Number(lastEpoch) });
  return { own, tx, frame };
}

/** Returns the transaction that the SDK sends for a dry run. */
async function sentBySdk(tx: Transaction): Promise<Uint8Array> {
  let sent: Uint8Array | undefined;
  const client = new SuiGrpcClient({
    network: "localnet",
    baseUrl: "http://node.example",
    fetch: async (_, init) => {
      sent = new Uint8Array(await new Response(init?.body).arrayBuffer());
      throw new Error("nobody answers");
    },
  });
  await tx.build({ client }).catch(() => {});
  if (sent === undefined) throw new Error("the SDK has sent nothing");
  // grpc-web: a frame has a flag and a length before the message.
  const PREFIX_BYTES = 5;
  const text = new TextDecoder("latin1").decode(sent);
  const body = /^[A-Za-z0-9+/=]+$/.test(text) ? new Uint8Array(Buffer.from(text, "base64")) : sent;
  const { transaction } = GrpcTypes.SimulateTransactionRequest.fromBinary(body.subarray(PREFIX_BYTES));
  return GrpcTypes.Transaction.toBinary(transaction!);
}

describe("a block of Move calls", () => {
  it(`has the octets that the SDK gives it, over ${BLOCK_COUNT} random blocks`, async () => {
    await fc.assert(
      fc.asyncProperty(block, async (made) => {
        const { own, tx, frame } = bothOf(made);
        tx.setGasBudget(made.budgetMist);
        expect(Buffer.compare(encodeBlock(own, frame, made.budgetMist), await tx.build())).toBe(0);
      }),
      { numRuns: BLOCK_COUNT },
    );
  }, 300_000);

  it("is sent to a dry run as the SDK sends it", async () => {
    await fc.assert(
      fc.asyncProperty(block, async (made) => {
        const { own, tx, frame } = bothOf(made);
        const ours = GrpcTypes.Transaction.toBinary(GrpcTypes.Transaction.create(blockMessage(own, frame)));
        expect(Buffer.compare(ours, await sentBySdk(tx))).toBe(0);
      }),
      { numRuns: 100 },
    );
  }, 300_000);

  it("refuses what is no address", () => {
    const { own, frame } = bothOf(fc.sample(block, { numRuns: 1, seed: 1 })[0]!);
    for (const sender of [`0x${"1".repeat(66)}`, "0xzz"])
      expect(() => encodeBlock(own, { ...frame, sender }, 1n)).toThrow();
  });
});
