/** The package's entry `threshold-signing-service/ethers`: a dWallet as a signer of ethers. */
export type { KnownKey, SigningClient, SigningKey } from "../message-signer.ts";
export { DWalletSigner } from "./dwallet-signer.ts";
