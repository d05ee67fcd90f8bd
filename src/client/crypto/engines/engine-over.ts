import { withoutTables } from "../../../protocol/proofs/parameters-ends.ts";
import type { CryptoEngine } from "../engine.ts";
import type { InputOf, Method, OutputOf } from "../plain-data.ts";
import { ownUserKeys } from "../plain-data.ts";
import { SecretBytes } from "../secret-bytes.ts";

/**
 * Creates the public engine over a plain one. It copies the input of each call, so that the caller can neither change
 * the input of a nonce during the computation nor lose a secret to it.
 */
export function engineOver(plain: PlainEngine): CryptoEngine {
  return {
    derivesRandomness: true,
    ready: () => plain.ready(),
    close: () => plain.close(),
    buildParameters: async ({ curve, networkKeyOutput, signal }) =>
      await plain.run("buildParameters", { curve, networkKeyOutput: copy(networkKeyOutput) }, signal),
    deriveUserKeys: async ({ curve, seed, signal }) =>
      ownUserKeys(await plain.run("deriveUserKeys", { curve, seed: copy(seed) }, signal)),
    prepareDkg: async (input) => {
      const { curve, userSecretKeyShare, sessionDigest, parameters, encryptionKey, signal } = input;
      const copied = {
        curve,
        userSecretKeyShare: copy(userSecretKeyShare.reveal()),
        sessionDigest: copy(sessionDigest),
        parameters: copy(withoutTables(parameters)),
        encryptionKey: copy(encryptionKey),
      };
      return await plain.run("prepareDkg", copied, signal);
    },
    prepareImport: async (input) => {
      const { curve, userSecretKeyShare, sessionDigest, parameters, encryptionKey, privateKey, signal } =
        input;
      const copied = {
        curve,
        userSecretKeyShare: copy(userSecretKeyShare.reveal()),
        sessionDigest: copy(sessionDigest),
        parameters: copy(withoutTables(parameters)),
        encryptionKey: copy(encryptionKey),
        privateKey: copy(privateKey.reveal()),
      };
      return await plain.run("prepareImport", copied, signal);
    },
    decryptShare: async (input) => {
      const { curve, decryptionKey, dwalletOutput, encryptedShareAndProof, signal } = input;
      const copied = {
        curve,
        decryptionKey: copy(decryptionKey.reveal()),
        dwalletOutput: copy(dwalletOutput),
        encryptedShareAndProof: copy(encryptedShareAndProof),
      };
      return new SecretBytes(await plain.run("decryptShare", copied, signal));
    },
    isOutputOfShare: async (input) => {
      const { curve, parameters, userSecretKeyShare, dwalletOutput, importedPublicKey, signal } = input;
      const copied = {
        curve,
        parameters: copy(withoutTables(parameters)),
        userSecretKeyShare: copy(userSecretKeyShare.reveal()),
        dwalletOutput: copy(dwalletOutput),
        ...(importedPublicKey !== undefined && { importedPublicKey: copy(importedPublicKey) }),
      };
      return await plain.run("isOutputOfShare", copied, signal);
    },
    signAsUser: async ({ signerSecretKey, message, signal }) => {
      const copied = { signerSecretKey: copy(signerSecretKey.reveal()), message: copy(message) };
      return await plain.run("signAsUser", copied, signal);
    },
    createSignMessage: async (input) => {
      const { triple, parameters, dwalletOutput, userSecretKeyShare, presign, message, signal } = input;
      const copied = {
        triple: { ...triple },
        parameters: copy(withoutTables(parameters)),
        dwalletOutput: copy(dwalletOutput),
        userSecretKeyShare: copy(userSecretKeyShare.reveal()),
        presign: copy(presign),
        message: copy(message),
      };
      return await plain.run("createSignMessage", copied, signal);
    },
  };
}

/** Runs an engine's calls, on this thread or another. */
export interface PlainEngine {
  ready(): Promise<void>;
  /** Runs a call. The engine owns the input: it overwrites the secrets in it and may transfer its buffers. */
  run<M extends Method>(method: M, input: InputOf<M>, signal: AbortSignal | undefined): Promise<OutputOf<M>>;
  close(): Promise<void>;
}

/** Copies bytes into a buffer of their own, even if they are a view of a larger one. */
function copy(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes);
}
