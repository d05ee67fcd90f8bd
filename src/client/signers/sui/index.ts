/** The package's entry `threshold-signing-service/sui`: a dWallet as a signer of Sui's SDK. */
export type { KnownKey, SigningClient, SigningKey } from "../message-signer.ts";
export {
  createDWalletSuiSigner,
  DWalletSuiSigner,
  type KnownSuiKey,
  type SuiKey,
} from "./dwallet-sui-signer.ts";
