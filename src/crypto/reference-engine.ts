import { ed25519 } from "@noble/curves/ed25519.js";
import { curveNumber } from "../protocol/algorithms.ts";
import { buildProtocolParameters } from "../protocol/parameters/build-protocol-parameters.ts";
import { runSteps } from "../protocol/steps.ts";
import { createDkgMessage } from "./create-dkg-message.ts";
import { type CryptoEngine, EngineError } from "./engine.ts";
import { type IkaWasmCalls, loadIkaWasm } from "./ika-wasm.ts";
import { SecretBytes } from "./secret-bytes.ts";
import { deriveUserKeys } from "./user-keys.ts";
import { isOutputOfShare } from "./user-output.ts";

/**
 * Creates an engine that uses ika-wasm 0.2.1 for encryption, decryption and sign messages, for comparison. Its calls
 * block the caller's thread: up to two seconds for the parameters of a curve, two for a DKG, ten for an ECDSA sign
 * message. Sign messages are random: two messages for one input differ.
 */
export function createReferenceEngine(): CryptoEngine {
  let isClosed = false;
  const open = async (): Promise<IkaWasmCalls> => {
    if (isClosed) throw new EngineError("the engine is closed");
    return await loadIkaWasm();
  };
  return {
    async ready() {
      await open();
    },
    async buildParameters({ curve, networkKeyOutput }) {
      if (isClosed) throw new EngineError("the engine is closed");
      return buildProtocolParameters(curveNumber(curve), networkKeyOutput);
    },
    async deriveUserKeys({ seed, curve }) {
      if (isClosed) throw new EngineError("the engine is closed");
      return deriveUserKeys(seed, curve);
    },
    async prepareDkg({ curve, parameters, encryptionKey, sessionDigest, userSecretKeyShare }) {
      const wasm = await open();
      const share = userSecretKeyShare.reveal();
      const message = runSteps(createDkgMessage(curve, parameters, sessionDigest, share));
      const encryptedUserShareAndProof = wasm.encryptShare(curve, share, encryptionKey, parameters);
      return { ...message, encryptedUserShareAndProof };
    },
    async decryptShare({ curve, parameters, decryptionKey, dwalletOutput, encryptedShareAndProof }) {
      const wasm = await open();
      const key = decryptionKey.reveal();
      return new SecretBytes(
        wasm.decryptShare(curve, key, dwalletOutput, encryptedShareAndProof, parameters),
      );
    },
    async isOutputOfShare({ curve, parameters, userSecretKeyShare, dwalletOutput }) {
      if (isClosed) throw new EngineError("the engine is closed");
      return isOutputOfShare(curve, parameters, userSecretKeyShare.reveal(), dwalletOutput);
    },
    async signAsUser({ signerSecretKey, message }) {
      if (isClosed) throw new EngineError("the engine is closed");
      return ed25519.sign(message, signerSecretKey.reveal());
    },
    async createSignMessage({ triple, parameters, dwalletOutput, userSecretKeyShare, presign, message }) {
      const wasm = await open();
      const share = userSecretKeyShare.reveal();
      return wasm.createSignMessage(triple, parameters, dwalletOutput, share, presign, message);
    },
    async close() {
      isClosed = true;
    },
  };
}
