import type { AlgorithmTriple, CurveName } from "../../protocol/algorithms.ts";
import type { PreparedDkg, UserKeys } from "./engine.ts";
import { SecretBytes } from "./secret-bytes.ts";
import type { SignRequest } from "./sign-request.ts";

/** Overwrites the secrets of an input after use. */
export function wipeSecrets(input: InputOf<Method>): void {
  if ("seed" in input) input.seed.fill(0);
  if ("privateKey" in input) input.privateKey.fill(0);
  if ("userSecretKeyShare" in input) input.userSecretKeyShare.fill(0);
  if ("decryptionKey" in input) input.decryptionKey.fill(0);
  if ("signerSecretKey" in input) input.signerSecretKey.fill(0);
}

/** The inputs and outputs of an engine's calls as plain data, which threads can exchange. */
export interface PlainCalls {
  buildParameters: Call<{ readonly curve: CurveName; readonly networkKeyOutput: Uint8Array }, Uint8Array>;
  deriveUserKeys: Call<{ readonly curve: CurveName; readonly seed: Uint8Array }, PlainUserKeys>;
  prepareDkg: Call<PlainDkgInput, PreparedDkg>;
  prepareImport: Call<PlainDkgInput & { readonly privateKey: Uint8Array }, PreparedDkg>;
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
  readonly importedPublicKey?: Uint8Array;
}

export type Method = keyof PlainCalls;
export type InputOf<M extends Method> = PlainCalls[M]["input"];
export type OutputOf<M extends Method> = PlainCalls[M]["output"];

/** Overwrites an unused output. */
export function wipeOutput(output: OutputOf<Method>): void {
  const values: unknown[] = output instanceof Uint8Array ? [output] : Object.values(output);
  for (const value of values) if (value instanceof Uint8Array) value.fill(0);
}

/** Wraps plain keys so that the caller can destroy their secrets. */
export function ownUserKeys(keys: PlainUserKeys): UserKeys {
  const { decryptionKey, signerSecretKey } = keys;
  const secrets = [new SecretBytes(decryptionKey), new SecretBytes(signerSecretKey)] as const;
  const destroy = (): void => {
    for (const secret of secrets) secret.destroy();
  };
  return {
    ...keys,
    decryptionKey: secrets[0],
    signerSecretKey: secrets[1],
    destroy,
    [Symbol.dispose]: destroy,
  };
}

/** The keys of a seed on one curve as plain data, which threads can exchange. */
export interface PlainUserKeys {
  readonly curve: CurveName;
  readonly encryptionKey: Uint8Array;
  /** Secret. */
  readonly decryptionKey: Uint8Array;
  readonly signerPublicKey: Uint8Array;
  readonly signerAddress: string;
  /** Secret. */
  readonly signerSecretKey: Uint8Array;
}
