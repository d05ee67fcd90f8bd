import { ed25519 } from "@noble/curves/ed25519.js";
import { curveNumber } from "../../../protocol/algorithms.ts";
import type { Steps } from "../../../protocol/chain/read-errors.ts";
import { decodeUserShare } from "../../../protocol/dwallet-output.ts";
import {
  buildProtocolParameters,
  NO_TABLES,
} from "../../../protocol/parameters/build-protocol-parameters.ts";
import { curveByNumber } from "../../../protocol/proofs/curve.ts";
import { rejectionReason } from "../../../protocol/proofs/rejected-input.ts";
import { unlessAborted } from "../../../protocol/unless-aborted.ts";
import { createDkgMessage } from "../create-dkg-message.ts";
import { createSignMessage } from "../create-sign-message.ts";
import { decryptShare, isOutputOfShare } from "../decrypt-share.ts";
import { encryptShare } from "../encrypt-share.ts";
import { EngineError } from "../engine.ts";
import { createImportMessage } from "../imports/create-import-message.ts";
import { nextTask } from "../load-part.ts";
import { BOTH_PARTS, type PartSplit } from "../part-split.ts";
import { type InputOf, type Method, type OutputOf, wipeSecrets } from "../plain-data.ts";
import { derivePlainUserKeys } from "../user-keys.ts";

/**
 * Runs a call on this thread, in slices. It owns the input and overwrites the secrets in it at the end. Throws
 * EngineError if the protocol rejects the input, and the signal's reason when it aborts.
 */
export async function runPlainCall<M extends Method>(
  method: M,
  input: InputOf<M>,
  { signal, split = BOTH_PARTS }: { readonly signal: AbortSignal; readonly split?: PartSplit },
): Promise<OutputOf<M>> {
  try {
    return await runYielding(COMPUTATIONS[method](input, split), { signal });
  } catch (error) {
    const reason = rejectionReason(error);
    throw reason === undefined ? error : new EngineError(`${NAMES[method]}: ${reason}`);
  } finally {
    wipeSecrets(input);
  }
}

/** The names of the calls in error messages. */
const NAMES: Readonly<Record<Method, string>> = {
  buildParameters: "protocol parameters",
  deriveUserKeys: "keys",
  prepareDkg: "DKG",
  prepareImport: "import",
  decryptShare: "share decryption",
  isOutputOfShare: "public output",
  signAsUser: "signature",
  createSignMessage: "sign message",
};

const COMPUTATIONS: {
  readonly [M in Method]: (input: InputOf<M>, split: PartSplit) => Steps<OutputOf<M>>;
} = {
  *buildParameters({ curve, networkKeyOutput }) {
    yield;
    return buildProtocolParameters(curveNumber(curve), networkKeyOutput, NO_TABLES);
  },
  *deriveUserKeys({ curve, seed }) {
    yield;
    return derivePlainUserKeys(seed, curve);
  },
  *prepareDkg({ curve, userSecretKeyShare, sessionDigest, parameters, encryptionKey }) {
    const scalar = decodeUserShare(curve, userSecretKeyShare);
    const message = yield* createDkgMessage(curve, parameters, sessionDigest, userSecretKeyShare);
    const encrypted = encryptShare(curveByNumber(curveNumber(curve)), encryptionKey, scalar);
    return { ...message, encryptedUserShareAndProof: yield* encrypted };
  },
  *prepareImport({ curve, userSecretKeyShare, sessionDigest, parameters, encryptionKey, privateKey }) {
    const scalar = decodeUserShare(curve, userSecretKeyShare);
    const split = [userSecretKeyShare, privateKey] as const;
    const message = yield* createImportMessage(curve, parameters, sessionDigest, ...split);
    const encrypted = encryptShare(curveByNumber(curveNumber(curve)), encryptionKey, scalar);
    return { ...message, encryptedUserShareAndProof: yield* encrypted };
  },
  decryptShare: ({ curve, decryptionKey, dwalletOutput, encryptedShareAndProof }) =>
    decryptShare(curveByNumber(curveNumber(curve)), decryptionKey, dwalletOutput, encryptedShareAndProof),
  *isOutputOfShare({ curve, parameters, userSecretKeyShare, dwalletOutput, importedPublicKey }) {
    yield;
    return isOutputOfShare(curve, parameters, userSecretKeyShare, dwalletOutput, importedPublicKey);
  },
  *signAsUser({ signerSecretKey, message }) {
    yield;
    return ed25519.sign(message, signerSecretKey);
  },
  createSignMessage: (request, split) => createSignMessage(request, split),
};

/**
 * Runs a long computation in slices and lets the event loop run in between. Throws the signal's reason when it aborts,
 * also while the computation waits.
 */
export async function runYielding<T>(
  steps: Steps<T>,
  {
    sliceMs = SLICE_MS,
    signal,
  }: { readonly sliceMs?: number; readonly signal?: AbortSignal | undefined } = {},
): Promise<T> {
  try {
    for (;;) {
      signal?.throwIfAborted();
      const end = performance.now() + sliceMs;
      let waiting: Promise<void> | undefined;
      do {
        const step = steps.next();
        if (step.done === true) return step.value;
        if (step.value !== undefined) waiting = step.value;
      } while (waiting === undefined && performance.now() < end);
      await (waiting === undefined ? nextTask() : unlessAborted(waiting, signal));
    }
  } finally {
    // Lets an aborted computation overwrite its secrets.
    steps.return(undefined as T);
  }
}

/** The approximate length of a slice. A step may take slightly longer. */
const SLICE_MS = 20;
