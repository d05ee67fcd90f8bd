import { ed25519 } from "@noble/curves/ed25519.js";
import { type AlgorithmTriple, type CurveName, curveNumber } from "../protocol/algorithms.ts";
import { buildProtocolParameters, NO_TABLES } from "../protocol/parameters/build-protocol-parameters.ts";
import { curveByNumber } from "../protocol/proofs/curve.ts";
import { rejectionReason } from "../protocol/proofs/rejected-input.ts";
import type { Steps } from "../protocol/steps.ts";
import { decodeUserShare } from "../protocol/user-share.ts";
import { createDkgMessage } from "./create-dkg-message.ts";
import { createSignMessage } from "./create-sign-message.ts";
import { decryptShare } from "./decrypt-share.ts";
import { encryptShare } from "./encrypt-share.ts";
import { EngineError, type PreparedDkg } from "./engine.ts";
import { BOTH_PARTS, type PartSplit } from "./part-split.ts";
import { runYielding } from "./run-yielding.ts";
import type { SignRequest } from "./sign-request.ts";
import { derivePlainUserKeys, type PlainUserKeys } from "./user-keys.ts";
import { isOutputOfShare } from "./user-output.ts";

/** The calls of an engine as plain data in and out, which can go from thread to thread. */
export interface PlainCalls {
  buildParameters: Call<{ readonly curve: CurveName; readonly networkKeyOutput: Uint8Array }, Uint8Array>;
  deriveUserKeys: Call<{ readonly curve: CurveName; readonly seed: Uint8Array }, PlainUserKeys>;
  prepareDkg: Call<PlainDkgInput, PreparedDkg>;
  /** The share. */
  decryptShare: Call<PlainDecryptInput, Uint8Array>;
  isOutputOfShare: Call<PlainOutputInput, boolean>;
  signAsUser: Call<{ readonly signerSecretKey: Uint8Array; readonly message: Uint8Array }, Uint8Array>;
  createSignMessage: Call<SignRequest & { readonly triple: AlgorithmTriple }, Uint8Array>;
}

interface Call<Input, Output> {
  readonly input: Input;
  readonly output: Output;
}

interface PlainDkgInput {
  readonly curve: CurveName;
  readonly userSecretKeyShare: Uint8Array;
  readonly sessionDigest: Uint8Array;
  readonly parameters: Uint8Array;
  readonly encryptionKey: Uint8Array;
}

interface PlainDecryptInput {
  readonly curve: CurveName;
  readonly decryptionKey: Uint8Array;
  readonly dwalletOutput: Uint8Array;
  readonly encryptedShareAndProof: Uint8Array;
}

interface PlainOutputInput {
  readonly curve: CurveName;
  readonly parameters: Uint8Array;
  readonly userSecretKeyShare: Uint8Array;
  readonly dwalletOutput: Uint8Array;
}

/** The name of a call. */
export type Method = keyof PlainCalls;
/** What a call takes. */
export type InputOf<M extends Method> = PlainCalls[M]["input"];
/** What a call gives. */
export type OutputOf<M extends Method> = PlainCalls[M]["output"];

/**
 * Runs a call on this thread, in slices. It owns the input, and overwrites the secrets in it at the end. Throws
 * EngineError for what the protocol refuses, and the signal's reason once it is aborted.
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

/** Overwrites the secrets of an input that is not needed any more. */
export function wipeSecrets(input: InputOf<Method>): void {
  if ("seed" in input) input.seed.fill(0);
  if ("userSecretKeyShare" in input) input.userSecretKeyShare.fill(0);
  if ("decryptionKey" in input) input.decryptionKey.fill(0);
  if ("signerSecretKey" in input) input.signerSecretKey.fill(0);
}

/** Overwrites an output that nobody takes. */
export function wipeOutput(output: OutputOf<Method>): void {
  const values: unknown[] = output instanceof Uint8Array ? [output] : Object.values(output);
  for (const value of values) if (value instanceof Uint8Array) value.fill(0);
}

/** What a call is called in an error. */
const NAMES: Readonly<Record<Method, string>> = {
  buildParameters: "protocol parameters",
  deriveUserKeys: "keys",
  prepareDkg: "DKG",
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
  decryptShare: ({ curve, decryptionKey, dwalletOutput, encryptedShareAndProof }) =>
    decryptShare(curveByNumber(curveNumber(curve)), decryptionKey, dwalletOutput, encryptedShareAndProof),
  *isOutputOfShare({ curve, parameters, userSecretKeyShare, dwalletOutput }) {
    yield;
    return isOutputOfShare(curve, parameters, userSecretKeyShare, dwalletOutput);
  },
  *signAsUser({ signerSecretKey, message }) {
    yield;
    return ed25519.sign(message, signerSecretKey);
  },
  createSignMessage: (request, split) => createSignMessage(request, split),
};
