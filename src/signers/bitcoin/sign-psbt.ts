import { secp256k1 } from "@noble/curves/secp256k1.js";
import { concatBytes } from "../../protocol/bytes.ts";
import { type SignOptions, TssError } from "../../sdk/index.ts";
import { readPublicKeyHex, signMessages, withPublicKey } from "../message-signer.ts";
import type { KnownKey, SigningKey } from "../signing-key.ts";
import { type InputChoice, planInputs } from "./plan-inputs.ts";
import { parsePsbt, unsignedTransaction } from "./psbt-transaction.ts";
import { type PsbtClient, quoteInputs } from "./quote-psbt.ts";

/** Options of signing a PSBT. */
export interface SignPsbtOptions extends SignOptions, InputChoice {
  /**
   * Refuses, before anything is reserved, what would cost more by the service's price list, in millionths of a US
   * dollar.
   */
  readonly maxPriceMicroUsd?: bigint | undefined;
}

/**
 * Signs the inputs of a PSBT, of version 0 or 2, that pay to a dWallet on secp256k1: P2WPKH, and Taproot by its key, where
 * the output's key is the dWallet's own, without a tweak (`bitcoinP2trAddress`). Returns the PSBT with the signatures,
 * not finalized. Each input is a signature and a charge of its own. With an idempotency key, input 2 has the key with
 * `/2` behind it: the same call goes on where it failed, and what is signed is not charged again.
 *
 * Throws a TssError: VALIDATION names the input; PRICE_ABOVE_LIMIT says what all signatures would cost.
 *
 * @example
 * const signed = await signPsbt(client, { seed, dwalletId }, psbt, { maxPriceMicroUsd: 50_000n });
 */
export async function signPsbt(
  client: PsbtClient,
  key: SigningKey | KnownKey,
  psbt: Uint8Array,
  options: SignPsbtOptions = {},
): Promise<Uint8Array> {
  const { inputs, sighashTypes, maxPriceMicroUsd, ...signOptions } = options;
  const parsed = parsePsbt(psbt);
  const transaction = unsignedTransaction(parsed);
  const known = await withPublicKey(client, key, "SECP256K1", signOptions);
  const publicKey = readPublicKeyHex(known.publicKeyHex, "SECP256K1");
  const planned = planInputs(transaction, publicKey, { inputs, sighashTypes });
  if (maxPriceMicroUsd !== undefined) {
    const { priceMicroUsd } = await quoteInputs(client, transaction, planned, signOptions.signal);
    if (priceMicroUsd > maxPriceMicroUsd) {
      const metadata = {
        priceMicroUsd: String(priceMicroUsd),
        maxPriceMicroUsd: String(maxPriceMicroUsd),
        signatureCount: String(planned.length),
      };
      throw new TssError("PRICE_ABOVE_LIMIT", "the signatures together cost more than is allowed", {
        metadata,
      });
    }
  }
  const messages = planned.map(({ index, algorithm, message }) => ({ name: index, algorithm, message }));
  const signatures = await signMessages(client, known, messages, signOptions);
  for (const [at, { index, kind, sighashByte }] of planned.entries()) {
    const compact = signatures[at]!.subarray(0, 64);
    const behind = sighashByte === 0 ? new Uint8Array() : Uint8Array.of(sighashByte);
    const update =
      kind === "p2tr"
        ? { tapKeySig: concatBytes(compact, behind) }
        : {
            partialSig: [
              [publicKey, concatBytes(secp256k1.Signature.fromBytes(compact).toBytes("der"), behind)],
            ] satisfies [Uint8Array, Uint8Array][],
          };
    parsed.updateInput(index, update, true);
  }
  return parsed.toPSBT();
}
