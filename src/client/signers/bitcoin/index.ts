/** The package's entry `threshold-signing-service/bitcoin`: a dWallet that signs PSBTs. */
export {
  type BitcoinPrefix,
  bitcoinP2pkhAddress,
  bitcoinP2shP2wpkhAddress,
  bitcoinP2trAddress,
  bitcoinP2wpkhAddress,
} from "../../../protocol/signatures/addresses.ts";
export type { KnownKey, SigningClient, SigningKey } from "../message-signer.ts";
export type { InputChoice, InputKind } from "./plan-inputs.ts";
export { type PsbtClient, type PsbtQuote, quotePsbt } from "./quote-psbt.ts";
export { type SignPsbtOptions, signPsbt } from "./sign-psbt.ts";
