import { bcs } from "@mysten/sui/bcs";
import { Transaction } from "@mysten/sui/transactions";
import { fromBase64 } from "@mysten/sui/utils";

/** Returns the byte vectors among the pure inputs of a transaction, in order. */
export function byteInputs(transactionBytes: Uint8Array): Uint8Array[] {
  const { inputs } = Transaction.from(transactionBytes).getData();
  return inputs.flatMap(({ Pure: pure }) => {
    const value = pure === undefined ? undefined : byteVector(fromBase64(pure.bytes));
    return value === undefined ? [] : [value];
  });
}

/** Returns the bytes of a BCS `vector<u8>`, or undefined for the encoding of another type. */
function byteVector(encoded: Uint8Array): Uint8Array | undefined {
  try {
    const value = Uint8Array.from(bcs.byteVector().parse(encoded));
    return bcs.byteVector().serialize(value).toBytes().length === encoded.length ? value : undefined;
  } catch {
    return undefined;
  }
}
