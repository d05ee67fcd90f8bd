import { bcs } from "@mysten/sui/bcs";
import { Transaction } from "@mysten/sui/transactions";
import { fromBase64 } from "@mysten/sui/utils";

/** The byte vectors among the pure inputs of a transaction, in the order of its inputs. */
export function byteInputs(transactionBytes: Uint8Array): Uint8Array[] {
  const { inputs } = Transaction.from(transactionBytes).getData();
  return inputs.flatMap(({ Pure: pure }) => {
    const value = pure === undefined ? undefined : byteVector(fromBase64(pure.bytes));
    return value === undefined ? [] : [value];
  });
}

/** The bytes of a BCS `vector<u8>`, or undefined where the encoding is another type's. */
function byteVector(encoded: Uint8Array): Uint8Array | undefined {
  try {
    const value = Uint8Array.from(bcs.byteVector().parse(encoded));
    return bcs.byteVector().serialize(value).toBytes().length === encoded.length ? value : undefined;
  } catch {
    return undefined;
  }
}
