import { signatureAlgorithmName, type TssClient } from "../../sdk/index.ts";
import {
  type KnownKey,
  readPublicKeyHex,
  type SigningClient,
  type SigningKey,
  withPublicKey,
} from "../message-signer.ts";
import { type InputChoice, type InputKind, type PlannedInput, planInputs } from "./plan-inputs.ts";
import { parsePsbt, type UnsignedTransaction, unsignedTransaction } from "./psbt-transaction.ts";

/**
 * Returns the inputs of a PSBT that a dWallet would sign, and their price. It reserves and charges nothing.
 *
 * @throws {TssError} VALIDATION when the PSBT is malformed or an input cannot be signed; the message names it.
 *
 * @example
 * const { priceMicroUsd, feeSats } = await quotePsbt(client, { seed, dwalletId }, psbt);
 */
export async function quotePsbt(
  client: PsbtClient,
  key: SigningKey | KnownKey,
  psbt: Uint8Array,
  choice: InputChoice & { readonly signal?: AbortSignal | undefined } = {},
): Promise<PsbtQuote> {
  const transaction = unsignedTransaction(parsePsbt(psbt));
  const { publicKeyHex } = await withPublicKey(client, key, "SECP256K1", { signal: choice.signal });
  const planned = planInputs(transaction, readPublicKeyHex(publicKeyHex, "SECP256K1"), choice);
  return await quoteInputs(client, transaction, planned, choice.signal);
}

/** The client methods that signing a PSBT uses. */
export type PsbtClient = SigningClient & Pick<TssClient, "prices">;

/**
 * The effect and the price of signing a PSBT. Each input is one signature and one charge. Prices are in millionths of a
 * US dollar, amounts in satoshis.
 */
export interface PsbtQuote {
  readonly inputs: readonly {
    readonly index: number;
    readonly kind: InputKind;
    readonly amountSats: bigint;
    readonly priceMicroUsd: bigint;
  }[];
  /** The total by the service's current price list. The service charges the price at the time of signing. */
  readonly priceMicroUsd: bigint;
  /** The miners' fee; undefined if the PSBT lacks a spent output. */
  readonly feeSats: bigint | undefined;
}

export async function quoteInputs(
  client: Pick<TssClient, "prices">,
  transaction: UnsignedTransaction,
  planned: readonly PlannedInput[],
  signal: AbortSignal | undefined,
): Promise<PsbtQuote> {
  const prices = await client.prices({ signal });
  const inputs = planned.map(({ index, kind, amountSats, algorithm, message }) => {
    const own = prices.signPrices.find(
      ({ signatureAlgorithm }) => signatureAlgorithmName(signatureAlgorithm) === algorithm.signatureAlgorithm,
    );
    const furtherKib = Math.ceil(Math.max(0, message.length - prices.includedMessageBytes) / 1024);
    const priceMicroUsd =
      (own?.priceMicroUsd ?? prices.signPriceMicroUsd) + BigInt(furtherKib) * prices.messageKibPriceMicroUsd;
    return { index, kind, amountSats, priceMicroUsd };
  });
  return {
    inputs,
    priceMicroUsd: inputs.reduce((sum, { priceMicroUsd }) => sum + priceMicroUsd, 0n),
    feeSats: feeOf(transaction),
  };
}

function feeOf({ inputs, outputs }: UnsignedTransaction): bigint | undefined {
  let fee = 0n;
  for (const { spent } of inputs) {
    if (spent === undefined) return undefined;
    fee += spent.amountSats;
  }
  return outputs.reduce((rest, { amountSats }) => rest - amountSats, fee);
}
