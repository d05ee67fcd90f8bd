import type * as IkaWasm from "@ika.xyz/ika-wasm";
import { ed25519 } from "@noble/curves/ed25519.js";
import { type AlgorithmTriple, type CurveName, curveNumber } from "../../../protocol/algorithms.ts";
import { runSteps } from "../../../protocol/chain/read-errors.ts";
import { buildProtocolParameters } from "../../../protocol/parameters/build-protocol-parameters.ts";
import { createDkgMessage } from "../create-dkg-message.ts";
import { isOutputOfShare } from "../decrypt-share.ts";
import { type CryptoEngine, EngineError } from "../engine.ts";
import { createImportMessage } from "../imports/create-import-message.ts";
import { SecretBytes } from "../secret-bytes.ts";
import { deriveUserKeys } from "../user-keys.ts";

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
    async prepareImport({ curve, parameters, encryptionKey, sessionDigest, userSecretKeyShare, privateKey }) {
      const wasm = await open();
      const share = userSecretKeyShare.reveal();
      const steps = createImportMessage(curve, parameters, sessionDigest, share, privateKey.reveal());
      const encryptedUserShareAndProof = wasm.encryptShare(curve, share, encryptionKey, parameters);
      return { ...runSteps(steps), encryptedUserShareAndProof };
    },
    async decryptShare({ curve, parameters, decryptionKey, dwalletOutput, encryptedShareAndProof }) {
      const wasm = await open();
      const key = decryptionKey.reveal();
      return new SecretBytes(
        wasm.decryptShare(curve, key, dwalletOutput, encryptedShareAndProof, parameters),
      );
    },
    async isOutputOfShare({ curve, parameters, userSecretKeyShare, dwalletOutput, importedPublicKey }) {
      if (isClosed) throw new EngineError("the engine is closed");
      const share = userSecretKeyShare.reveal();
      return isOutputOfShare(curve, parameters, share, dwalletOutput, importedPublicKey);
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

/** Loads the wasm once per thread. Throws {@link EngineError} if that fails; the next call tries again. */
export function loadIkaWasm(): Promise<IkaWasmCalls> {
  loading ??= load().catch((cause) => {
    loading = undefined;
    throw new EngineError("the cryptography module could not be loaded", { cause });
  });
  return loading;
}

/**
 * The calls of ika-wasm 0.2.1. Only this file knows how to load it and the order of its arguments. Every call blocks
 * its thread.
 */
interface IkaWasmCalls {
  /** Encrypts the share under a class-groups key, with its proof. Takes about 2 s. */
  encryptShare(
    curve: CurveName,
    share: Uint8Array,
    encryptionKey: Uint8Array,
    parameters: Uint8Array,
  ): Uint8Array;
  /** Decrypts the share in about 2 s. Rejects a share that does not match the dWallet's output. */
  decryptShare(
    curve: CurveName,
    decryptionKey: Uint8Array,
    dwalletOutput: Uint8Array,
    encryptedShareAndProof: Uint8Array,
    parameters: Uint8Array,
  ): Uint8Array;
  /** Computes the user's sign message: 10 s for ECDSA, a few milliseconds for the others. */
  createSignMessage(
    triple: AlgorithmTriple,
    parameters: Uint8Array,
    dwalletOutput: Uint8Array,
    share: Uint8Array,
    presign: Uint8Array,
    message: Uint8Array,
  ): Uint8Array;
}

let loading: Promise<IkaWasmCalls> | undefined;

async function load(): Promise<IkaWasmCalls> {
  const module = await importPackage();
  // In Node the package is CommonJS and is ready at once, contrary to its types. In browsers the default export fetches
  // the wasm.
  const entry: unknown = module.default;
  const wasm = typeof entry === "object" && entry !== null ? (entry as Calls) : module;
  if (isInitializer(entry)) await entry();
  return {
    encryptShare: (curve, share, encryptionKey, parameters) =>
      attempt("share encryption", () =>
        Uint8Array.from(wasm.encrypt_secret_share(curveNumber(curve), share, encryptionKey, parameters)),
      ),
    decryptShare: (curve, decryptionKey, dwalletOutput, encryptedShareAndProof, parameters) =>
      attempt("share decryption", () =>
        takeSecret(
          wasm.decrypt_user_share(
            curveNumber(curve),
            decryptionKey,
            dwalletOutput,
            encryptedShareAndProof,
            parameters,
          ),
        ),
      ),
    createSignMessage: (triple, parameters, dwalletOutput, share, presign, message) =>
      attempt("sign message", () =>
        Uint8Array.from(
          // Unlike the call for the user's own output, this one takes curve, algorithm, hash in this order.
          wasm.create_sign_centralized_party_message(
            parameters,
            dwalletOutput,
            share,
            presign,
            message,
            triple.curveNumber,
            triple.signatureAlgorithmNumber,
            triple.hashNumber,
          ),
        ),
      ),
  };
}

/** Imports the package. The `try` makes bundlers treat a missing package as a run-time error. */
async function importPackage(): Promise<typeof IkaWasm> {
  try {
    return await import("@ika.xyz/ika-wasm");
  } catch (cause) {
    throw new EngineError("@ika.xyz/ika-wasm is not installed", { cause });
  }
}

type ByteList = number[] | Uint8Array;
function isInitializer(entry: unknown): entry is () => Promise<unknown> {
  return typeof entry === "function";
}

type Calls = Omit<typeof IkaWasm, "default">;

/** Copies a secret out of the wasm's array and overwrites the array. */
function takeSecret(list: ByteList): Uint8Array {
  const secret = Uint8Array.from(list);
  list.fill(0);
  return secret;
}

/** Hides the wasm's error messages, which contain its input. */
function attempt<T>(what: string, call: () => T): T {
  try {
    return call();
  } catch {
    throw new EngineError(`${what}: the protocol rejected the input`);
  }
}
