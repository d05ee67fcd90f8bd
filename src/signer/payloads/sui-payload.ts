import { bcs } from "@mysten/sui/bcs";
import { fromBase64 } from "@mysten/sui/utils";
import { DWalletSuiSigner } from "../../client/signers/sui/index.ts";
import { equalBytes } from "../../protocol/bytes.ts";
import type { SuiScheme } from "../../protocol/signatures/addresses.ts";
import { wrongField } from "../signer-error.ts";
import type { Payload, PayloadSigner } from "./payload.ts";

/**
 * Reads a transaction, as the BCS of `TransactionData`. Throws VALIDATION for octets that are not exactly one
 * transaction. The key must be the sender or the gas owner: nobody else's signature is of use.
 */
export function readSuiTransaction(octets: Uint8Array, curve: SuiScheme): Payload {
  const { sender, gasOwner } = parse(octets);
  return {
    async sign(signer) {
      const account = accountOf(signer, curve);
      const own = account.toSuiAddress();
      if (own !== sender && own !== gasOwner)
        throw wrongField(
          "sui_transaction",
          `is sent by ${sender} and paid by ${gasOwner}, and this key is ${own}`,
        );
      const { signature } = await account.signTransaction(octets);
      return { signature: fromBase64(signature) };
    },
  };
}

/** Reads a personal message. */
export function readSuiMessage(message: Uint8Array, curve: SuiScheme): Payload {
  return {
    async sign(signer) {
      const { signature } = await accountOf(signer, curve).signPersonalMessage(message);
      return { signature: fromBase64(signature) };
    },
  };
}

function accountOf(signer: PayloadSigner, curve: SuiScheme): DWalletSuiSigner {
  return new DWalletSuiSigner(signer, { ...signer.key, curve });
}

function parse(octets: Uint8Array): { readonly sender: string; readonly gasOwner: string } {
  let isSame: boolean;
  try {
    const data = bcs.TransactionData.parse(octets);
    isSame = equalBytes(bcs.TransactionData.serialize(data).toBytes(), octets);
    if (isSame) return { sender: data.V1.sender, gasOwner: data.V1.gasData.owner };
  } catch {
    throw wrongField("sui_transaction", "is not the BCS of a transaction of Sui");
  }
  throw wrongField("sui_transaction", "is not the canonical BCS of a transaction of Sui");
}
