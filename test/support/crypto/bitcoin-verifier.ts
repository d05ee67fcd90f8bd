import { createRequire } from "node:module";

/** The part of bitcore-lib that verifies scripts. The library has no types. */
interface Bitcore {
  readonly Script: {
    (hex: string): unknown;
    empty(): unknown;
    readonly Interpreter: (new () => {
      verify(
        scriptSig: unknown,
        scriptPubkey: unknown,
        transaction: unknown,
        index: number,
        flags: number,
        witness: readonly Buffer[],
        satoshis: number,
      ): boolean;
    }) &
      Readonly<Record<string, number>>;
  };
  readonly Transaction: new (hex: string) => { inputs: { output: unknown; witnesses?: Buffer[] }[] };
}

interface SpentOutput {
  readonly amountSats: bigint;
  readonly script: Uint8Array;
}

const { Script, Transaction } = createRequire(import.meta.url)("bitcore-lib") as Bitcore & {
  Transaction: { Output: new (output: { script: unknown; satoshis: number }) => unknown };
};

/** Whether bitcore-lib's script interpreter accepts that an input of a whole transaction spends its output. */
export function verifyBitcoinInput(
  transaction: Uint8Array,
  index: number,
  witness: readonly Uint8Array[],
  spent: readonly SpentOutput[],
): boolean {
  const parsed = new Transaction(Buffer.from(transaction).toString("hex"));
  const outputs = spent.map(({ script, amountSats }) => ({
    script: Script(Buffer.from(script).toString("hex")),
    satoshis: Number(amountSats),
  }));
  for (const [at, output] of outputs.entries()) parsed.inputs[at]!.output = new Transaction.Output(output);
  const { Interpreter } = Script;
  const flags = ["P2SH", "WITNESS", "TAPROOT", "STRICTENC", "DERSIG", "LOW_S", "NULLFAIL"]
    .map((name) => Interpreter[`SCRIPT_VERIFY_${name}`] ?? Number.NaN)
    .reduce((all, flag) => all | flag, 0);
  const { script, satoshis } = outputs[index]!;
  return new Interpreter().verify(
    Script.empty(),
    script,
    parsed,
    index,
    flags,
    witness.map((item) => Buffer.from(item)),
    satoshis,
  );
}
