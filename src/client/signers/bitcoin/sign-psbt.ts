import { secp256k1 } from "@noble/curves/secp256k1.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { type SignOptions, TssError } from "../../sdk/index.ts";
import {
  type KnownKey,
  readPublicKeyHex,
  type SigningKey,
  signMessages,
  withPublicKey,
} from "../message-signer.ts";
import { type InputChoice, planInputs } from "./plan-inputs.ts";
import { parsePsbt, unsignedTransaction } from "./psbt-transaction.ts";
import { type PsbtClient, quoteInputs } from "./quote-psbt.ts";

/**
 * Signs the inputs of a PSBT, of version 0 or 2, that pay to a dWallet on secp256k1: P2WPKH, also inside P2SH, P2PKH,
 * and Taproot key-path inputs whose output key is the dWallet's own, without a tweak (`bitcoinP2trAddress`). Returns the
 * PSBT with the signatures, not finalized. Each input is one signature and one charge. With an idempotency key, input 2 uses the key
 * with `/2` appended: the same call continues after a failure, and signed inputs are not charged again.
 *
 * @throws {TssError} VALIDATION when the PSBT is malformed or an input cannot be signed; the message names it.
 * @throws {TssError} PRICE_ABOVE_LIMIT when the signatures cost more than `maxPriceMicroUsd`; `metadata.priceMicroUsd`
 *   is the total.
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
      throw new TssError("PRICE_ABOVE_LIMIT", "the total price of the signatures is above the limit", {
        metadata,
      });
    }
  }
  const messages = planned.map(({ index, algorithm, message }) => ({ name: index, algorithm, message }));
  const signatures = await signMessages(client, known, messages, signOptions);
  for (const [at, { index, kind, sighashByte, redeemScript }] of planned.entries()) {
    const compact = signatures[at]!.subarray(0, 64);
    const behind = sighashByte === 0 ? new Uint8Array() : Uint8Array.of(sighashByte);
    const update =
      kind === "p2tr"
        ? { tapKeySig: concatBytes(compact, behind) }
        : {
            ...(redeemScript && { redeemScript }),
            partialSig: [
              [publicKey, concatBytes(secp256k1.Signature.fromBytes(compact).toBytes("der"), behind)],
            ] satisfies [Uint8Array, Uint8Array][],
          };
    parsed.updateInput(index, update, true);
  }
  return parsed.toPSBT();
}

/** Options of {@link signPsbt}. */
export interface SignPsbtOptions extends SignOptions, InputChoice {
  /**
   * The maximum total by the service's price list, in millionths of a US dollar. Checked before the client reserves
   * anything. Default: no limit.
   */
  readonly maxPriceMicroUsd?: bigint | undefined;
}
