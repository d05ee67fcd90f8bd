/**
 * The package's entry `threshold-signing-service/keys`: reads private keys for `client.importKey`. It is an entry of its
 * own, so that no other program contains the list of words and the key derivations.
 */
export { type LocalReason, TssError, type TssErrorReason } from "../sdk/errors.ts";
export { type KeyFromHexArgs, keyFromHex } from "./key-from-hex.ts";
export { type KeyFromKeystoreArgs, keyFromKeystore } from "./key-from-keystore.ts";
export { type KeyFromSolanaArgs, keyFromSolana } from "./key-from-solana.ts";
export { type KeyFromWordsArgs, keyFromWords } from "./key-from-words.ts";
export type { PrivateKey } from "./private-key.ts";
