/** The package's entry `threshold-signing-service/viem`: a dWallet as an account of viem. */
export type { KnownKey, SigningClient, SigningKey } from "../message-signer.ts";
export {
  createDWalletAccount,
  type DWalletAccount,
  type DWalletAccountOptions,
  dwalletAccount,
} from "./dwallet-account.ts";
export { DWalletSigningError, findSigningError } from "./dwallet-signing-error.ts";
