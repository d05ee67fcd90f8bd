import { signPsbt } from "../../client/signers/bitcoin/index.ts";
import { parsePsbt } from "../../client/signers/bitcoin/psbt-transaction.ts";
import { wrongField } from "../signer-error.ts";
import { asField } from "./as-field.ts";
import type { Payload, PayloadSigner } from "./payload.ts";

/** Reads a PSBT. Its unsigned inputs that pay to the key are signed, with the default sighash types alone. */
export function readPsbt(psbt: Uint8Array): Payload {
  return {
    async sign(signer) {
      const bounded = { ...signer, signMany: boundedSignMany(signer), prices: noPrices };
      const { idempotencyKey, key } = signer;
      const signedPsbt = await asField("bitcoin_psbt", () =>
        signPsbt(bounded, key, psbt, { idempotencyKey }),
      );
      const bitcoinTransaction = finalTransaction(signedPsbt);
      return { signedPsbt, ...(bitcoinTransaction && { bitcoinTransaction }) };
    },
  };
}

const MAX_INPUTS = 100;

function boundedSignMany({ signMany }: PayloadSigner): PayloadSigner["signMany"] {
  return (items, options) => {
    if (items.length > MAX_INPUTS)
      throw wrongField(
        "bitcoin_psbt",
        `has ${items.length} inputs of this key, and the signer signs ${MAX_INPUTS}`,
      );
    return signMany(items, options);
  };
}

/** Only a limit of the price needs them, and a request has none. */
function noPrices(): never {
  throw new Error("a PSBT without a limit of its price needs no prices");
}

/** Returns the serialized transaction if every input has its signatures. */
function finalTransaction(psbt: Uint8Array): Uint8Array | undefined {
  const transaction = parsePsbt(psbt);
  try {
    transaction.finalize();
    return transaction.extract();
  } catch {
    return undefined;
  }
}
