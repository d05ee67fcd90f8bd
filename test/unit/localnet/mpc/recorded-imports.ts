import type { NetworkImportInput } from "../../../../src/localnet/mpc/engine.ts";
import { hexToBytes } from "../../../../src/protocol/bytes.ts";
import recorded from "./wasm-imports.json" with { type: "json" };

/** A key import and one signature, recorded with ika-wasm 0.2.1 as the user of the network of `NETWORK_SEED`. */
export interface RecordedImport {
  readonly input: NetworkImportInput;
  readonly publicKey: Uint8Array;
  readonly userShare: Uint8Array;
  readonly presignSessionId: Uint8Array;
  readonly message: Uint8Array;
  readonly userSignMessage: Uint8Array;
}

/** One import on SECP256K1, signed with ECDSA and Keccak-256, and one on ED25519. */
export const IMPORTS: readonly RecordedImport[] = recorded.map((recording) => ({
  input: {
    curve: recording.curve,
    sessionId: hexToBytes(recording.sessionId),
    userMessage: hexToBytes(recording.userMessage),
    userPublicOutput: hexToBytes(recording.userPublicOutput),
    encryptedShareAndProof: hexToBytes(recording.encryptedShareAndProof),
    encryptionKey: hexToBytes(recording.encryptionKey),
  },
  publicKey: hexToBytes(recording.publicKey),
  userShare: hexToBytes(recording.userShare),
  presignSessionId: hexToBytes(recording.presignSessionId),
  message: hexToBytes(recording.message),
  userSignMessage: hexToBytes(recording.userSignMessage),
}));
