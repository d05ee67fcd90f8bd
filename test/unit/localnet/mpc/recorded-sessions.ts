import type { DkgMessages, EncryptedUserShare } from "../../../../src/localnet/mpc/engine.ts";
import type { HashName, SignatureAlgorithmName } from "../../../../src/protocol/algorithms.ts";
import { hexToBytes } from "../../../../src/protocol/bytes.ts";
import recorded from "./wasm-sessions.json" with { type: "json" };

/** A recorded signature. */
export interface RecordedSign {
  readonly algorithm: SignatureAlgorithmName;
  readonly hash: HashName;
  readonly signatureAlgorithm: number;
  readonly hashScheme: number;
  readonly presignSessionId: Uint8Array;
  readonly message: Uint8Array;
  readonly userSignMessage: Uint8Array;
  /** As the chain stores it: v first for ECDSA. */
  readonly signature: Uint8Array;
}

/** One dWallet's sessions, recorded with ika-wasm 0.2.1 as the user and the network of {@link NETWORK_SEED}. */
export interface RecordedSession {
  readonly curve: number;
  readonly publicKey: Uint8Array;
  readonly dkg: DkgMessages & EncryptedUserShare;
  readonly signs: readonly RecordedSign[];
}

export const NETWORK_SEED = hexToBytes(recorded.networkSeed);

/** One session per curve, by chain number. */
export const SESSIONS: readonly RecordedSession[] = recorded.sessions.map(
  ({ curve, publicKey, dkg, signs }) => ({
    curve,
    publicKey: hexToBytes(publicKey),
    dkg: {
      curve,
      sessionId: hexToBytes(dkg.sessionId),
      userDkgMessage: hexToBytes(dkg.userDkgMessage),
      userPublicOutput: hexToBytes(dkg.userPublicOutput),
      encryptedShareAndProof: hexToBytes(dkg.encryptedShareAndProof),
      encryptionKey: hexToBytes(dkg.encryptionKey),
    },
    signs: signs.map((sign) => ({
      algorithm: sign.algorithm as SignatureAlgorithmName,
      hash: sign.hash as HashName,
      signatureAlgorithm: sign.signatureAlgorithm,
      hashScheme: sign.hashScheme,
      presignSessionId: hexToBytes(sign.presignSessionId),
      message: hexToBytes(sign.message),
      userSignMessage: hexToBytes(sign.userSignMessage),
      signature: hexToBytes(sign.signature),
    })),
  }),
);
