/** The package's entry `threshold-signing-service/solana`: a dWallet as a signer of Solana Kit. */
export type { KnownKey, SigningClient, SigningKey } from "../message-signer.ts";
export {
  createDWalletSolanaSigner,
  type DWalletSolanaSigner,
  dwalletSolanaSigner,
} from "./dwallet-solana-signer.ts";
