/**
 * The package's entry `threshold-signing-service/reference`: an engine over Ika's WebAssembly. It is an entry of its own,
 * so that no other program refers to the optional package `@ika.xyz/ika-wasm`.
 */
export type { CryptoEngine } from "../crypto/engine.ts";
export { createReferenceEngine } from "../crypto/engines/reference-engine.ts";
