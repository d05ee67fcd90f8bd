/** Payloads of Solana, Sui and Bitcoin: the libraries of those chains judge what is signed. */
import { bcs } from "@mysten/sui/bcs";
import { Transaction as SuiTransaction } from "@mysten/sui/transactions";
import { toBase64 } from "@mysten/sui/utils";
import { verifyPersonalMessageSignature, verifyTransactionSignature } from "@mysten/sui/verify";
import { p2wpkh, Transaction } from "@scure/btc-signer";
import {
  appendTransactionMessageInstruction,
  address as asAddress,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  generateKeyPairSigner,
  getTransactionDecoder,
  getTransactionEncoder,
  lamports,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import { initEccLib, Psbt } from "bitcoinjs-lib";
import { FailedTransactionMetadata, LiteSVM } from "litesvm";
import * as ecc from "tiny-secp256k1";
import { describe, expect, it } from "vitest";
import type { SignRequest } from "../../../gen/proto/tss/signer/v1/signer_pb.ts";
import type { Curve } from "../../../src/client/sdk/index.ts";
import { hexToBytes } from "../../../src/protocol/bytes.ts";
import { solanaAddress, suiAddress } from "../../../src/protocol/signatures/addresses.ts";
import { type FinishedPayload, readPayload } from "../../../src/signer/payloads/payload.ts";
import { verifyBitcoinInput } from "../../support/crypto/bitcoin-verifier.ts";
import { type KnownKeyClient, knownKeyClient } from "../../support/crypto/known-key-client.ts";

interface TestKey extends KnownKeyClient {
  readonly curve: Curve;
}
const testKey = (curve: Curve): TestKey => ({
  ...knownKeyClient(curve, new Uint8Array(32).fill(0x2d)),
  curve,
});
const publicKeyOf = ({ chainKeyHex }: KnownKeyClient) => hexToBytes(chainKeyHex);

const RECIPIENT = asAddress("11111111111111111111111111111112");
const BLOCKHASH = solanaAddress(new Uint8Array(32).fill(9)) as Blockhash;

describe("a transaction of Solana", () => {
  const network = testKey("ED25519");
  const own = asAddress(solanaAddress(publicKeyOf(network)));

  it("is executed by Solana's runtime, and a signature of another signer stays in it", async () => {
    const svm = new LiteSVM();
    const payer = await generateKeyPairSigner();
    svm.airdrop(payer.address, lamports(5_000_000_000n));
    svm.airdrop(own, lamports(5_000_000_000n));
    const unsigned = transfer(payer.address, svm.latestBlockhash());
    const [ofPayer] = await payer.signTransactions([compiled(unsigned)]);
    const half = { ...unsigned, signatures: { ...unsigned.signatures, ...ofPayer } };
    const octets = Uint8Array.from(getTransactionEncoder().encode(half));
    const made = await sign(network, "solanaTransaction", octets);
    const signed = getTransactionDecoder().decode(made.signedSolanaTransaction!);
    expect(signed.signatures[own]).toEqual(made.signature);
    const result = svm.sendTransaction(signed as Parameters<LiteSVM["sendTransaction"]>[0]);
    expect(result).not.toBeInstanceOf(FailedTransactionMetadata);
    expect(svm.getBalance(RECIPIENT)).toBe(1_000_000_000n);
  });

  it.each([
    ["asks for no signature of the key", () => encoded(transfer(RECIPIENT, BLOCKHASH, RECIPIENT))],
    ["has octets behind it", () => Uint8Array.of(...encoded(transfer(own)), 0)],
    ["is none", () => Uint8Array.of(1, 2, 3)],
  ])("that %s is refused by name, and nothing is signed", async (_, octets) => {
    const { length } = network.asked;
    const refused = sign(network, "solanaTransaction", octets());
    await expect(refused).rejects.toMatchObject({ violations: [{ field: "solana_transaction" }] });
    expect(network.asked).toHaveLength(length);
  });

  function transfer(payer: string, blockhash: string = BLOCKHASH, from: string = own) {
    const data = new Uint8Array(12);
    new DataView(data.buffer).setUint32(0, 2, true);
    new DataView(data.buffer).setBigUint64(4, 1_000_000_000n, true);
    const accounts = [
      { address: asAddress(from), role: 3 },
      { address: RECIPIENT, role: 1 },
    ];
    const programAddress = asAddress("11111111111111111111111111111111");
    return pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayer(asAddress(payer), message),
      (message) =>
        setTransactionMessageLifetimeUsingBlockhash(
          { blockhash: blockhash as Blockhash, lastValidBlockHeight: 100n },
          message,
        ),
      (message) => appendTransactionMessageInstruction({ programAddress, accounts, data }, message),
      compileTransaction,
    );
  }
  type Made = ReturnType<typeof transfer>;
  const compiled = (made: Made) =>
    made as Made & Parameters<Awaited<ReturnType<typeof generateKeyPairSigner>>["signTransactions"]>[0][0];
  const encoded = (made: Made) => Uint8Array.from(getTransactionEncoder().encode(made));
});

describe.each(["ED25519", "SECP256K1", "SECP256R1"] as const)("on %s, Sui's SDK accepts", (curve) => {
  const network = testKey(curve);
  const own = suiAddress(curve, publicKeyOf(network));

  it("the signature of a transaction that the key sends or pays for", async () => {
    for (const [sender, owner] of [
      [own, own],
      [OTHER, own],
    ] as const) {
      const octets = await suiTransfer(sender, owner);
      const { signature } = await sign(network, "suiTransaction", octets);
      const publicKey = await verifyTransactionSignature(octets, toBase64(signature!));
      expect(publicKey.toSuiAddress()).toBe(own);
    }
  });

  it("the signature of a personal message", async () => {
    const message = Buffer.from("hello");
    const { signature } = await sign(network, "suiMessage", message);
    const publicKey = await verifyPersonalMessageSignature(message, toBase64(signature!));
    expect(publicKey.toSuiAddress()).toBe(own);
  });

  it("no transaction of others, and nothing else that only looks like one", async () => {
    const octets = await suiTransfer(own, own);
    const wrong = [await suiTransfer(OTHER, OTHER), Uint8Array.of(...octets, 0), octets.slice(1)];
    const { length } = network.asked;
    for (const one of wrong) {
      const refused = sign(network, "suiTransaction", one);
      await expect(refused).rejects.toMatchObject({ violations: [{ field: "sui_transaction" }] });
    }
    expect(network.asked).toHaveLength(length);
  });
});

describe("a PSBT", () => {
  initEccLib(ecc);
  const network = testKey("SECP256K1");
  const publicKey = publicKeyOf(network);
  const own = [
    { script: p2wpkh(publicKey).script, amountSats: 60_000n },
    { script: Uint8Array.of(0x51, 32, ...publicKey.subarray(1)), amountSats: 50_000n },
  ];
  const foreign = { script: Uint8Array.of(0, 20, ...new Uint8Array(20).fill(7)), amountSats: 40_000n };

  it("with P2WPKH and P2TR is signed, and its final transaction spends by bitcore's rules", async () => {
    const { signedPsbt, bitcoinTransaction } = await sign(network, "bitcoinPsbt", pay(own).toPSBT());
    // bitcoinjs-lib finalizes what the signer signed, and makes the same transaction.
    const made = Psbt.fromBuffer(signedPsbt!).finalizeAllInputs().extractTransaction(true);
    expect(made.toHex()).toBe(Buffer.from(bitcoinTransaction!).toString("hex"));
    for (const [index, { witness }] of made.ins.entries())
      expect(verifyBitcoinInput(bitcoinTransaction!, index, witness, own)).toBe(true);
    expect(network.asked.map(({ options }) => options.idempotencyKey)).toEqual(["k/0", "k/1"]);
  });

  it("with an input of others has the key's signatures, and no final transaction", async () => {
    const made = await sign(network, "bitcoinPsbt", pay([...own, foreign]).toPSBT());
    expect(made).not.toHaveProperty("bitcoinTransaction");
    expect(Psbt.fromBuffer(made.signedPsbt!).data.inputs.map((input) => Object.keys(input))).toEqual([
      expect.arrayContaining(["partialSig"]),
      expect.arrayContaining(["tapKeySig"]),
      expect.not.arrayContaining(["partialSig", "tapKeySig"]),
    ]);
  });

  it.each([
    ["has no input of the key", () => pay([foreign]).toPSBT()],
    ["is none", () => Uint8Array.of(1, 2, 3)],
    ["has another sighash type", () => pay(own, { sighashType: 2 }).toPSBT()],
    ["has 101 inputs of the key", () => pay(Array.from({ length: 101 }, () => own[0]!)).toPSBT()],
  ])("that %s is refused by name, and nothing is signed", async (_, octets) => {
    const { length } = network.asked;
    const refused = sign(network, "bitcoinPsbt", octets());
    await expect(refused).rejects.toMatchObject({ violations: [{ field: "bitcoin_psbt" }] });
    expect(network.asked).toHaveLength(length);
  });

  function pay(spent: readonly (typeof foreign)[], more: object = {}): Transaction {
    const transaction = new Transaction();
    for (const [index, { script, amountSats: amount }] of spent.entries())
      transaction.addInput({ txid: "17".repeat(32), index, witnessUtxo: { script, amount }, ...more });
    transaction.addOutput({ script: p2wpkh(publicKey).script, amount: 39_000n });
    return transaction;
  }
});

const OTHER = `0x${"7".repeat(64)}`;

async function suiTransfer(sender: string, gasOwner: string): Promise<Uint8Array> {
  const transaction = new SuiTransaction();
  const [coin] = transaction.splitCoins(transaction.gas, [5]);
  transaction.transferObjects([coin], OTHER);
  transaction.setSender(sender);
  transaction.setGasOwner(gasOwner);
  transaction.setGasPrice(1000);
  transaction.setGasBudget(10_000_000);
  transaction.setGasPayment([{ objectId: OTHER, version: "1", digest: solanaAddress(new Uint8Array(32)) }]);
  const octets = await transaction.build();
  expect(bcs.TransactionData.parse(octets).V1.sender).toBe(sender);
  return octets;
}

/** Signs a payload with a key whose private key the test knows. */
async function sign(
  { curve, ...network }: TestKey,
  kind: string,
  value: Uint8Array,
): Promise<FinishedPayload> {
  const progress = { kind: "creating" } as const;
  const key = { name: "k", curve, seed: new Uint8Array(32), createTimeMs: 0, progress };
  const payload = await readPayload({ case: kind, value } as SignRequest["payload"], key);
  return await payload.sign({ ...network, idempotencyKey: "k" });
}
