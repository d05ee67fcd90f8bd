import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import { p2pkh, Transaction } from "@scure/btc-signer";
import { initEccLib, Psbt, payments, Transaction as SpentTransaction } from "bitcoinjs-lib";
import fc from "fast-check";
import * as curve from "tiny-secp256k1";
import { describe, expect, it } from "vitest";
import { quotePsbt, signPsbt } from "../../../../src/client/signers/bitcoin/index.ts";
import { verifyBitcoinInput } from "../../../support/crypto/bitcoin-verifier.ts";
import { type KnownKeyClient, knownKeyClient } from "../../../support/crypto/known-key-client.ts";
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

describe("bitcoinjs-lib", () => {
  initEccLib(curve);
  const OWN = ["own p2wpkh", "own p2sh-p2wpkh", "own p2pkh", "own p2tr"] as const;
  /** Whether it accepts this key's signature of an input. */
  const accepts = (bytes: Uint8Array, index: number) => {
    const parsed = Psbt.fromBuffer(bytes);
    const { tapKeySig, tapInternalKey } = parsed.data.inputs[index]!;
    // It looks for the signature of a key path only if the PSBT names an internal key. The output key verifies it.
    if (tapKeySig && !tapInternalKey) parsed.updateInput(index, { tapInternalKey: PUBLIC_KEY.subarray(1) });
    return parsed.validateSignaturesOfInput(index, (publicKey, hash, signature) =>
      publicKey.length === 32
        ? curve.verifySchnorr(hash, publicKey, signature)
        : curve.verify(hash, publicKey, signature),
    );
  };

  it("accepts the signature of each kind of input with each sighash type", () =>
    fc.assert(
      fc.asyncProperty(psbt(PUBLIC_KEY, { own: OWN }), async (made) => {
        const client = known();
        const signed = await signPsbt(client, client.key, made.transaction.toPSBT(0), {
          sighashTypes: ALL_TYPES,
        });
        for (const index of ownInputs(made)) expect(accepts(signed, index)).toBe(true);
      }),
      RUNS,
    ));

  it("accepts it in no other transaction", () =>
    fc.assert(
      fc.asyncProperty(psbt(PUBLIC_KEY, { own: OWN, sighashTypes: [1] }), async (made) => {
        const client = known();
        const signed = Psbt.fromBuffer(await signPsbt(client, client.key, made.transaction.toPSBT(0)));
        const other = read(made.transaction.toPSBT());
        other.updateOutput(0, { amount: 1n });
        const moved = Psbt.fromBuffer(other.toPSBT(0));
        for (const [index, { partialSig, tapKeySig, redeemScript }] of signed.data.inputs.entries())
          moved.updateInput(index, {
            ...(partialSig && { partialSig }),
            ...(tapKeySig && { tapKeySig }),
            ...(redeemScript && { redeemScript }),
          });
        for (const index of ownInputs(made)) expect(accepts(moved.toBuffer(), index)).toBe(false);
      }),
      RUNS,
    ));

  it("finalizes and extracts a transaction with every kind of input", async () => {
    const client = known();
    const quote = await quotePsbt(client, client.key, pay(OWN).toPSBT(0));
    expect(quote.inputs.map(({ kind }) => `own ${kind}`)).toEqual(OWN);
    expect(quote.priceMicroUsd).toBe(37_000n);
    const signed = Psbt.fromBuffer(await signPsbt(client, client.key, pay(OWN).toPSBT(0)));
    const transaction = signed.finalizeAllInputs().extractTransaction();
    expect(transaction).toBeInstanceOf(SpentTransaction);
    expect(transaction.ins.map(({ script, witness }) => [script.length > 0, witness.length])).toEqual([
      [false, 2],
      [true, 2],
      [true, 0],
      [false, 1],
    ]);
  });

  it("refuses a signature of the dWallet's own key for the tweaked key of BIP-86", () => {
    const { output: script } = payments.p2tr({ internalPubkey: PUBLIC_KEY.subarray(1) });
    const transaction = payFrom({ script: script! });
    const hash = transaction.preimageWitnessV1(0, [script!], 0, [10_000n]);
    transaction.updateInput(0, { tapKeySig: schnorr.sign(hash, PRIVATE_KEY) }, true);
    expect(accepts(transaction.toPSBT(0), 0)).toBe(false);
  });
});

describe("an input that a dWallet cannot sign", () => {
  const other = schnorr.getPublicKey(new Uint8Array(32).fill(7));
  const tweaked = payments.p2tr({ internalPubkey: PUBLIC_KEY.subarray(1) }).output!;
  const single = payments.p2pk({ pubkey: PUBLIC_KEY });
  it.each<[string, Uint8Array]>([
    ["pays to this key with a tweak, as BIP-86 and every wallet make it", tweaked],
    ["is P2TR of another key", Uint8Array.of(0x51, 32, ...other)],
    ["is P2WPKH of another key", payments.p2wpkh({ pubkey: Uint8Array.of(2, ...other) }).output!],
    ["is P2PKH of another key", payments.p2pkh({ pubkey: Uint8Array.of(2, ...other) }).output!],
    ["is P2SH of another key or script", payments.p2sh({ redeem: single }).output!],
    ["is P2WSH", payments.p2wsh({ redeem: single }).output!],
    ["is P2PK", single.output!],
    ["spends a script of an unknown kind", Uint8Array.of(0x51)],
  ])("is refused, with what it is and what is supported: %s", async (text, script) => {
    for (const [options, field] of [
      [{}, text.includes("tweak") ? "inputs[0]" : "psbt"],
      [{ inputs: [0] }, "inputs[0]"],
    ] as const) {
      const client = known();
      const refused = signPsbt(client, client.key, payFrom({ script }).toPSBT(), options);
      await expect(refused).rejects.toMatchObject({ reason: "VALIDATION", metadata: { field } });
      await expect(refused).rejects.toThrow(text);
      await expect(refused).rejects.toThrow("A dWallet signs P2WPKH, P2SH-P2WPKH, P2PKH, and P2TR");
      expect(client.asked).toEqual([]);
    }
  });

  it("stops the signatures of the others if it has a tweaked key of this dWallet, unless they are chosen", async () => {
    const client = known();
    const internalKey = { tapInternalKey: PUBLIC_KEY.subarray(1) };
    for (const transaction of [
      payFrom({ script: scriptOf("own p2wpkh", PUBLIC_KEY) }, { script: tweaked }),
      // Made from the key and a script.
      payFrom(
        { script: scriptOf("own p2wpkh", PUBLIC_KEY) },
        { script: Uint8Array.of(0x51, 32, ...other), ...internalKey },
      ),
    ]) {
      const refused = signPsbt(client, client.key, transaction.toPSBT());
      await expect(refused).rejects.toMatchObject({ metadata: { field: "inputs[1]" } });
      expect(client.asked).toEqual([]);
      await signPsbt(client, client.key, transaction.toPSBT(), { inputs: [0] });
      expect(client.asked.splice(0)).toHaveLength(1);
    }
    // The untweaked output key may be named as its own internal key.
    const plain = payFrom({ script: scriptOf("own p2tr", PUBLIC_KEY), ...internalKey });
    expect((await quotePsbt(client, client.key, plain.toPSBT())).inputs).toHaveLength(1);
  });

  it("is one of P2PKH whose amount no previous transaction proves", async () => {
    const client = known();
    const transaction = payFrom({ script: scriptOf("own p2pkh", PUBLIC_KEY) });
    const refused = signPsbt(client, client.key, transaction.toPSBT());
    await expect(refused).rejects.toMatchObject({ reason: "VALIDATION", metadata: { field: "inputs[0]" } });
    await expect(refused).rejects.toThrow("lacks the whole transaction that it spends from");
  });
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
  for (const [at, kind] of kinds.entries()) {
    const txid = new Uint8Array(32).fill(at + 1);
    const spent = { script: scriptOf(kind, PUBLIC_KEY), amount: 10_000n };
    const previous = previousTransaction(txid, at, spent);
    transaction.addInput({
      ...(kind === "own p2pkh"
        ? { txid: previous.id, nonWitnessUtxo: previous.raw }
        : { txid, witnessUtxo: spent }),
      index: at,
      ...(at === kinds.length - 1 && sighashType !== undefined && { sighashType }),
    });
  }
  if (isBlind) transaction.addInput({ txid: new Uint8Array(32).fill(9), index: 0 });
  transaction.addOutput({ script: p2pkh(PUBLIC_KEY).script, amount: 1_000n });
  return transaction;
}

/** A PSBT that spends 10,000 satoshis of each script. */
function payFrom(...spent: readonly { script: Uint8Array; tapInternalKey?: Uint8Array }[]): Transaction {
  const transaction = new Transaction({ ...LENIENT });
  for (const [index, { script, ...fields }] of spent.entries())
    transaction.addInput({
      txid: new Uint8Array(32).fill(5),
      index,
      witnessUtxo: { script, amount: 10_000n },
      ...fields,
    });
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
