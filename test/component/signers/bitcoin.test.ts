import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import { p2pkh, Transaction } from "@scure/btc-signer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quotePsbt, signPsbt } from "../../../src/signers/bitcoin/index.ts";
import { verifyBitcoinInput } from "../../support/bitcoin-verifier.ts";
import { type KnownKeyClient, knownKeyClient } from "../../support/known-key-client.ts";
import { LENIENT, type MadePsbt, previousTransaction, psbt, scriptOf } from "./bitcoin-arbitraries.ts";

const RUNS = { numRuns: 60, seed: 29 };
const PRIVATE_KEY = new Uint8Array(32).fill(0x3c);
const PUBLIC_KEY = secp256k1.getPublicKey(PRIVATE_KEY, true);
const known = (): KnownKeyClient => knownKeyClient("SECP256K1", PRIVATE_KEY);
const ALL_TYPES = [0, 1, 2, 3, 0x81, 0x82, 0x83];
const read = (bytes: Uint8Array) => Transaction.fromPSBT(bytes, { ...LENIENT });
const ownInputs = ({ kinds }: MadePsbt) => [...kinds.keys()].filter((at) => kinds[at]!.startsWith("own"));

describe("a PSBT that a dWallet signs", () => {
  it.each([0, 2])("equals the output of the library's own signer for P2WPKH, in version %i", (version) =>
    fc.assert(
      fc.asyncProperty(psbt(PUBLIC_KEY, { own: ["own p2wpkh"] }), async (made) => {
        const client = known();
        const bytes = made.transaction.toPSBT(version);
        const signed = await signPsbt(client, client.key, bytes, { sighashTypes: ALL_TYPES });
        const own = read(bytes);
        for (const index of ownInputs(made)) own.signIdx(PRIVATE_KEY, index, ALL_TYPES);
        expect(signed).toEqual(own.toPSBT(version));
      }),
      RUNS,
    ),
  );

  it("has the Taproot signature of the library's own BIP-341 pre-image", () =>
    fc.assert(
      fc.asyncProperty(psbt(PUBLIC_KEY, { own: ["own p2tr"] }), async (made) => {
        const client = known();
        const bytes = made.transaction.toPSBT();
        const own = read(bytes);
        const spent = made.kinds.map((_, at) => spentBy(own, at));
        const signed = read(await signPsbt(client, client.key, bytes, { sighashTypes: ALL_TYPES }));
        for (const index of ownInputs(made)) {
          const type = made.sighashTypes[index] ?? 0;
          const scripts = spent.map(({ script }) => script);
          const amounts = spent.map(({ amount }) => amount);
          const hash = own.preimageWitnessV1(index, scripts, type, amounts);
          const signature = schnorr.sign(hash, PRIVATE_KEY, new Uint8Array(32));
          const expected = type === 0 ? signature : Uint8Array.of(...signature, type);
          expect(signed.getInput(index).tapKeySig).toEqual(expected);
        }
      }),
      RUNS,
    ));

  it("spends its outputs by another library's rules, and only in its own transaction", () =>
    fc.assert(
      fc.asyncProperty(psbt(PUBLIC_KEY, { sighashTypes: [1] }), async (made) => {
        const client = known();
        const signed = read(await signPsbt(client, client.key, made.transaction.toPSBT()));
        const spent = made.kinds
          .map((_, at) => spentBy(signed, at))
          .map(({ script, amount }) => ({
            script,
            amountSats: amount,
          }));
        const other = read(made.transaction.toPSBT());
        other.updateOutput(0, { amount: 1n });
        for (const index of ownInputs(made)) {
          const { tapKeySig, partialSig = [] } = signed.getInput(index);
          const witness = tapKeySig ? [tapKeySig] : [partialSig[0]![1], partialSig[0]![0]];
          expect(verifyBitcoinInput(signed.unsignedTx, index, witness, spent)).toBe(true);
          expect(verifyBitcoinInput(other.unsignedTx, index, witness, spent)).toBe(false);
        }
      }),
      RUNS,
    ));
});

describe("signing a PSBT", () => {
  it("sends the pre-images themselves, each with its own algorithm and idempotency key", async () => {
    const client = known();
    const bytes = pay(["own p2wpkh", "other p2wpkh", "own p2tr"]).toPSBT();
    await signPsbt(client, client.key, bytes, { idempotencyKey: "payout-7" });
    expect(
      client.asked.map(({ args, options }) => [args.signatureAlgorithm, args.hashScheme, options]),
    ).toEqual([
      ["ECDSASecp256k1", "DoubleSHA256", { idempotencyKey: "payout-7/0", signal: undefined }],
      ["Taproot", "SHA256", { idempotencyKey: "payout-7/2", signal: undefined }],
    ]);
    // BIP-143: 182 octets. BIP-341: two tags, the epoch and 174 octets.
    expect(client.asked.map(({ args }) => args.message.length)).toEqual([182, 2 * 32 + 1 + 174]);
  });

  it("is quoted for each input before anything is reserved", async () => {
    const client = known();
    const bytes = pay(["own p2wpkh", "other p2wpkh", "own p2tr", "own p2tr"]).toPSBT();
    expect(await quotePsbt(client, client.key, bytes)).toEqual({
      inputs: [
        { index: 0, kind: "p2wpkh", amountSats: 10_000n, priceMicroUsd: 10_000n },
        { index: 2, kind: "p2tr", amountSats: 10_000n, priceMicroUsd: 7_000n },
        { index: 3, kind: "p2tr", amountSats: 10_000n, priceMicroUsd: 7_000n },
      ],
      priceMicroUsd: 24_000n,
      feeSats: 39_000n,
    });
    const refused = signPsbt(client, client.key, bytes, { maxPriceMicroUsd: 23_999n });
    await expect(refused).rejects.toMatchObject({
      reason: "PRICE_ABOVE_LIMIT",
      metadata: { priceMicroUsd: "24000", maxPriceMicroUsd: "23999", signatureCount: "3" },
    });
    expect(client.asked).toEqual([]);
    await signPsbt(client, client.key, bytes, { maxPriceMicroUsd: 24_000n });
    expect(client.asked).toHaveLength(3);
  });

  it("skips signed inputs, and signs the selected ones", async () => {
    const client = known();
    const bytes = pay(["own p2wpkh", "own p2tr", "own p2wpkh"]).toPSBT();
    const first = await signPsbt(client, client.key, bytes, { inputs: [1] });
    const whole = await signPsbt(client, client.key, first);
    expect(client.asked).toHaveLength(3);
    expect(whole).toEqual(await signPsbt(client, client.key, bytes));
    client.asked.length = 0;
    expect(await signPsbt(client, client.key, whole)).toEqual(whole);
    expect(client.asked).toEqual([]);
    const again = signPsbt(client, client.key, whole, { inputs: [1] });
    await expect(again).rejects.toMatchObject({ reason: "VALIDATION", metadata: { field: "inputs[1]" } });
  });

  it("reads the spent output from the previous transaction, and refuses another transaction", async () => {
    const client = known();
    const script = scriptOf("own p2wpkh", PUBLIC_KEY);
    const previous = previousTransaction(new Uint8Array(32).fill(1), 1, { script, amount: 10_000n });
    const transaction = new Transaction({ ...LENIENT });
    transaction.addInput({ txid: previous.id, index: 1, nonWitnessUtxo: previous.raw });
    transaction.addOutput({ script: p2pkh(PUBLIC_KEY).script, amount: 1_000n });
    const bytes = transaction.toPSBT();
    expect(await quotePsbt(client, client.key, bytes)).toMatchObject({ feeSats: 9_000n });
    // 10,000 satoshis are 0x2710. A larger amount would hide a fee for the miners.
    const at = Buffer.from(bytes).indexOf(Buffer.from("1027000000000000", "hex"));
    bytes[at + 1]! ^= 1;
    await expect(signPsbt(client, client.key, bytes)).rejects.toMatchObject({
      reason: "VALIDATION",
      metadata: { field: "psbt" },
    });
    expect(client.asked).toEqual([]);
  });

  it("can be finalized and extracted", async () => {
    const client = known();
    const signed = read(await signPsbt(client, client.key, pay(["own p2wpkh", "own p2tr"]).toPSBT()));
    signed.finalize();
    expect(signed.extract().length).toBeGreaterThan(signed.unsignedTx.length);
  });

  it.each<[string, Transaction | Uint8Array, object, string]>([
    ["a PSBT without an input of this key", pay(["other p2wpkh"]), {}, "psbt"],
    ["an input that another key owns", pay(["own p2tr", "other p2wpkh"]), { inputs: [1] }, "inputs[1]"],
    ["an input that is not there", pay(["own p2tr"]), { inputs: [7] }, "inputs[7]"],
    ["bytes that are no PSBT", new Uint8Array(40), {}, "psbt"],
    [
      "a sighash type that others can use",
      pay(["own p2tr", "own p2tr"], { sighashType: 2 }),
      {},
      "inputs[1]",
    ],
    [
      "a sighash type that there is not",
      pay(["own p2wpkh", "own p2tr"], { sighashType: 0x80 }),
      { sighashTypes: [0x80, 1] },
      "inputs[1]",
    ],
    ["two inputs that spend the same output", payTwice(), {}, "inputs[1]"],
    [
      "a signature of an output that is not there",
      pay(["own p2wpkh", "own p2wpkh"], { sighashType: 3 }),
      { sighashTypes: [1, 3] },
      "inputs[1]",
    ],
    [
      "Taproot beside an input that lacks the output that it spends",
      pay(["own p2tr"], { isBlind: true }),
      {},
      "inputs[1]",
    ],
  ])("refuses %s, naming it, before it asks for a signature", async (_, given, options, field) => {
    const client = known();
    const bytes = given instanceof Transaction ? given.toPSBT() : given;
    await expect(signPsbt(client, client.key, bytes, options)).rejects.toMatchObject({
      reason: "VALIDATION",
      metadata: { field },
    });
    expect(client.asked).toEqual([]);
  });
});

/** A PSBT of 10,000 satoshis per input and 1,000 per output; the last input may be special. */
function pay(
  kinds: MadePsbt["kinds"],
  { sighashType, isBlind = false }: { sighashType?: number; isBlind?: boolean } = {},
): Transaction {
  const transaction = new Transaction({ ...LENIENT });
  for (const [at, kind] of kinds.entries())
    transaction.addInput({
      txid: new Uint8Array(32).fill(at + 1),
      index: at,
      witnessUtxo: { script: scriptOf(kind, PUBLIC_KEY), amount: 10_000n },
      ...(at === kinds.length - 1 && sighashType !== undefined && { sighashType }),
    });
  if (isBlind) transaction.addInput({ txid: new Uint8Array(32).fill(9), index: 0 });
  transaction.addOutput({ script: p2pkh(PUBLIC_KEY).script, amount: 1_000n });
  return transaction;
}

function payTwice(): Transaction {
  const transaction = pay(["own p2wpkh"]);
  const { txid, index, witnessUtxo } = transaction.getInput(0);
  transaction.addInput({ txid: txid!, index: index!, witnessUtxo: witnessUtxo! });
  return transaction;
}

function spentBy(transaction: Transaction, index: number): { script: Uint8Array; amount: bigint } {
  const { nonWitnessUtxo, witnessUtxo, index: output = 0 } = transaction.getInput(index);
  return (nonWitnessUtxo?.outputs[output] ?? witnessUtxo)!;
}
