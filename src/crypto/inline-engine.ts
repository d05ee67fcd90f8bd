import { curveNumber } from "../protocol/algorithms.ts";
import { curveByNumber } from "../protocol/proofs/curve.ts";
import { rejectionReason } from "../protocol/proofs/rejected-input.ts";
import type { Steps } from "../protocol/steps.ts";
import { decodeUserShare } from "../protocol/user-share.ts";
import { createDkgMessage } from "./create-dkg-message.ts";
import { createSignMessage } from "./create-sign-message.ts";
import { decryptShare } from "./decrypt-share.ts";
import { encryptShare } from "./encrypt-share.ts";
import {
  type Abortable,
  type CryptoEngine,
  EngineError,
  type PrepareDkgInput,
  type PreparedDkg,
} from "./engine.ts";
import { runYielding } from "./run-yielding.ts";
import { SecretBytes } from "./secret-bytes.ts";
import { deriveUserKeys } from "./user-keys.ts";

/**
 * The engine on the caller's own thread, for Node and browsers, all in TypeScript. The longer calls work in slices of
 * about 20 milliseconds, between which the event loop goes on.
 */
export function createInlineEngine(): CryptoEngine {
  let isClosed = false;
  const run = async <T>(what: string, { signal }: Abortable, begin: () => Steps<T>): Promise<T> => {
    if (isClosed) throw new EngineError("the engine is closed");
    try {
      return await runYielding(begin(), { signal });
    } catch (error) {
      const reason = rejectionReason(error);
      throw reason === undefined ? error : new EngineError(`${what}: ${reason}`);
    }
  };
  return {
    async ready() {
      if (isClosed) throw new EngineError("the engine is closed");
    },
    async deriveUserKeys({ seed, curve }) {
      if (isClosed) throw new EngineError("the engine is closed");
      return deriveUserKeys(seed, curve);
    },
    prepareDkg: (input) => run("DKG", input, () => prepareDkg(input)),
    async decryptShare(input) {
      const { curve, decryptionKey, dwalletOutput, encryptedShareAndProof } = input;
      const share = await run("share decryption", input, () =>
        decryptShare(
          curveByNumber(curveNumber(curve)),
          decryptionKey.reveal(),
          dwalletOutput,
          encryptedShareAndProof,
        ),
      );
      return new SecretBytes(share);
    },
    createSignMessage: (input) =>
      run("sign message", input, () =>
        createSignMessage({
          ...input,
          // Copies: what a nonce follows from must not change under the computation.
          dwalletOutput: Uint8Array.from(input.dwalletOutput),
          presign: Uint8Array.from(input.presign),
          message: Uint8Array.from(input.message),
          userSecretKeyShare: input.userSecretKeyShare.reveal(),
        }),
      ),
    async close() {
      isClosed = true;
    },
  };
}

function* prepareDkg(input: PrepareDkgInput): Steps<PreparedDkg> {
  const { curve, parameters, sessionDigest, encryptionKey } = input;
  const share = input.userSecretKeyShare.reveal();
  const scalar = decodeUserShare(curve, share);
  const message = yield* createDkgMessage(curve, parameters, sessionDigest, share);
  const encrypted = encryptShare(curveByNumber(curveNumber(curve)), encryptionKey, scalar);
  return { ...message, encryptedUserShareAndProof: yield* encrypted };
}
