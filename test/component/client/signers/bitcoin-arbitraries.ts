import { p2pkh, p2sh, p2tr, p2wpkh, RawTx, Transaction } from "@scure/btc-signer";
import fc from "fast-check";

/** The owner of the output that an input spends. */
export type InputKind =
  | "own p2wpkh"
  | "own p2sh-p2wpkh"
  | "own p2pkh"
  | "own p2tr"
  | "other p2wpkh"
  | "other p2pkh";

export interface MadePsbt {
  readonly transaction: Transaction;
  readonly kinds: readonly InputKind[];
  readonly sighashTypes: readonly (number | undefined)[];
}

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const amount = fc.bigInt({ min: 546n, max: 2_100_000_000_000_000n });
const EVERYTHING = [1, 2, 3, 0x81, 0x82, 0x83];
/** Owned by another key, which signs elsewhere. */
const OTHER_KEY = Uint8Array.from(
  Buffer.from("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798", "hex"),
);

/** Returns an output script of the key, or of another owner. */
export function scriptOf(kind: InputKind, publicKey: Uint8Array): Uint8Array {
  switch (kind) {
    case "own p2wpkh":
      return p2wpkh(publicKey).script;
    case "own p2sh-p2wpkh":
      return p2sh(p2wpkh(publicKey)).script;
    case "own p2pkh":
      return p2pkh(publicKey).script;
    case "own p2tr":
      // Without a tweak, which the library does not offer.
      return Uint8Array.of(0x51, 32, ...publicKey.subarray(1));
    case "other p2wpkh":
      return p2wpkh(OTHER_KEY).script;
    case "other p2pkh":
      return p2pkh(OTHER_KEY).script;
  }
}

/** Random PSBTs whose inputs pay to the key or to others, with outputs, sequences and sighash types of all kinds. */
export function psbt(
  publicKey: Uint8Array,
  { sighashTypes = EVERYTHING, own = ["own p2wpkh", "own p2tr"] as readonly InputKind[] } = {},
): fc.Arbitrary<MadePsbt> {
  const input = fc.record({
    kind: fc.constantFrom<InputKind>(...own, "other p2wpkh", "other p2pkh"),
    txid: bytes(32),
    index: fc.nat({ max: 5 }),
    amount,
    sequence: fc.option(fc.constantFrom(0, 1, 0xfffffffd, 0xfffffffe, 0xffffffff), { nil: undefined }),
    sighashType: fc.option(fc.constantFrom(...sighashTypes), { nil: undefined }),
  });
  const output = fc.oneof(
    bytes(20).map((hash) => Uint8Array.of(0, 20, ...hash)),
    fc.constant(p2tr(OTHER_KEY.subarray(1)).script),
    fc.uint8Array({ minLength: 1, maxLength: 75 }).map((data) => Uint8Array.of(0x6a, data.length, ...data)),
  );
  return fc
    .record({
      version: fc.constantFrom(1, 2),
      lockTime: fc.constantFrom(0, 1, 840_000, 1_700_000_000),
      first: input.map((made) => ({ ...made, kind: made.kind.startsWith("own") ? made.kind : own[0]! })),
      others: fc.array(input, { maxLength: 3 }),
      outputs: fc.array(fc.tuple(output, amount), { minLength: 1, maxLength: 4 }),
    })
    .map(({ version, lockTime, first, others, outputs }) => {
      const transaction = new Transaction({ version, lockTime, ...LENIENT });
      const inputs = [first, ...others].map((made, at) => {
        const isSingle = ((made.sighashType ?? 0) & 3) === 3;
        return isSingle && at >= outputs.length ? { ...made, sighashType: undefined } : made;
      });
      for (const { kind, txid, index, amount: sats, sequence, sighashType } of inputs) {
        const spent = { script: scriptOf(kind, publicKey), amount: sats };
        const common = {
          index,
          ...(sequence !== undefined && { sequence }),
          ...(sighashType !== undefined && { sighashType }),
        };
        if (!kind.endsWith(" p2pkh")) transaction.addInput({ txid, witnessUtxo: spent, ...common });
        else {
          // An input that is not SegWit carries the whole previous transaction.
          const previous = previousTransaction(txid, index, spent);
          transaction.addInput({ txid: previous.id, nonWitnessUtxo: previous.raw, ...common });
        }
      }
      for (const [script, sats] of outputs) transaction.addOutput({ script, amount: sats });
      return {
        transaction,
        kinds: inputs.map(({ kind }) => kind),
        sighashTypes: inputs.map(({ sighashType }) => sighashType),
      };
    });
}

/** Options that make the library accept other writers' PSBTs. */
export const LENIENT = {
  allowUnknownInputs: true,
  allowUnknownOutputs: true,
  allowLegacyWitnessUtxo: true,
  disableScriptCheck: true,
} as const;

/** A transaction with an output at an index. */
export function previousTransaction(
  seed: Uint8Array,
  index: number,
  output: { script: Uint8Array; amount: bigint },
): { id: string; raw: Uint8Array } {
  const raw = RawTx.encode({
    version: 2,
    segwitFlag: false,
    inputs: [{ txid: seed, index: 0, finalScriptSig: new Uint8Array(), sequence: 0 }],
    outputs: Array.from({ length: index + 1 }, (_, at) =>
      at === index ? output : { ...output, amount: 1n },
    ),
    witnesses: [],
    lockTime: 0,
  });
  return { id: Transaction.fromRaw(raw, { ...LENIENT }).id, raw };
}
