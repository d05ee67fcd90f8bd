import { secp256k1 } from "@noble/curves/secp256k1.js";
import { hexToBytes } from "../../protocol/bytes.ts";
import { invalid } from "../sdk/checks.ts";
import type { ReadKeyResult, SignArgs, SignManyItem, SignOptions, TssClient } from "../sdk/index.ts";

/** A dWallet and the secret that signs with it. Its fields are those of `client.sign`. */
export type SigningKey = Pick<
  SignArgs,
  "seed" | "dwalletId" | "sessionDigestHex" | "userSecretKeyShareHex" | "acceptUnverifiedShare" | "timeoutMs"
>;

/** The client methods that a signer uses. */
export interface SigningClient extends Pick<TssClient, "sign" | "signMany"> {
  readKey(...args: Parameters<TssClient["readKey"]>): Promise<Pick<ReadKeyResult, "publicKeyHex">>;
}

/** A dWallet whose public key the caller knows. */
export interface KnownKey extends SigningKey {
  /**
   * The `publicKeyHex` that `onboard` and `readKey` return. The signer compares it with the chain's before it signs
   * anything.
   */
  readonly publicKeyHex: string;
}

/** Creates a signer of messages. The options apply to every signature; options of one signature override them. */
export function createMessageSigner(
  client: SigningClient,
  key: KnownKey,
  algorithm: MessageAlgorithm,
  defaults: SignOptions = {},
): MessageSigner {
  const { publicKeyHex, ...secret } = key;
  const publicKey = readPublicKeyHex(publicKeyHex, algorithm.curve);
  return {
    publicKey,
    async sign(given, own) {
      // A copy, because the caller may reuse its buffer while the chain is read.
      const message = Uint8Array.from(given);
      const options = { ...defaults, ...own };
      await checkKey(client, key, algorithm.curve, options);
      return (await client.sign({ ...secret, ...algorithm, message }, options)).signature;
    },
    async signAll(messages, own) {
      const named = messages.map((message, name) => ({ name, algorithm, message }));
      return await signMessages(client, key, named, { ...defaults, ...own });
    },
  };
}

/** The curve, algorithm and hash of a signer's messages. */
export type MessageAlgorithm = Pick<SignArgs, "curve" | "signatureAlgorithm" | "hashScheme">;

/** Signs messages with one dWallet and one algorithm. Messages are never hashes: the network hashes them. */
export interface MessageSigner {
  readonly publicKey: Uint8Array;
  /** Signs a message and returns the signature in the form of `client.sign`. */
  sign(message: Uint8Array, options?: SignOptions): Promise<Uint8Array>;
  /**
   * Signs several messages, 8 at a time, and returns the signatures in the same order. With an idempotency key, the
   * message at index 2 uses the key with `/2` appended, so that the same call continues after a failure and nothing is
   * charged twice. Rejects with the first failure in the order of the messages, once all have ended.
   */
  signAll(messages: readonly Uint8Array[], options?: SignOptions): Promise<Uint8Array[]>;
}

/**
 * Returns the key with its public key: the one that the caller knows, or the chain's, which must match the user's
 * share.
 */
export async function withPublicKey(
  client: Pick<SigningClient, "readKey">,
  key: SigningKey | KnownKey,
  curve: MessageAlgorithm["curve"],
  { signal, traceparent }: SignOptions = {},
): Promise<KnownKey> {
  if ("publicKeyHex" in key) return key;
  const { publicKeyHex } = await client.readKey({ ...key, curve }, { signal, traceparent });
  return { ...key, publicKeyHex };
}

/** One message of {@link signMessages}. */
interface NamedMessage {
  /** The suffix of the idempotency key: the same in every call for the same message. */
  readonly name: number;
  readonly algorithm: MessageAlgorithm;
  readonly message: Uint8Array;
}

/** Signs several messages whose algorithms use one curve, like {@link MessageSigner.signAll}. */
export async function signMessages(
  client: SigningClient,
  key: KnownKey,
  messages: readonly NamedMessage[],
  { idempotencyKey, signal, traceparent, onProgress, onResumeToken }: SignOptions,
): Promise<Uint8Array[]> {
  const [first] = messages;
  if (first === undefined) return [];
  const { publicKeyHex: _, ...secret } = key;
  const items = messages.map(
    ({ name, algorithm, message }): SignManyItem => ({
      ...secret,
      ...algorithm,
      message: Uint8Array.from(message),
      idempotencyKey: idempotencyKey === undefined ? undefined : `${idempotencyKey}/${name}`,
    }),
  );
  await checkKey(client, key, first.algorithm.curve, { signal, traceparent });
  const results = await client.signMany(items, {
    signal,
    traceparent,
    onProgress: onProgress && ((_index, stage, elapsedMs) => onProgress(stage, elapsedMs)),
    onResumeToken: onResumeToken && ((_index, token) => onResumeToken(token)),
  });
  return results.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value.signature;
  });
}

/**
 * Compares the public key with the chain's. The client caches the dWallet, which signing reads anyway, so this costs at
 * most one read.
 */
async function checkKey(
  client: SigningClient,
  { dwalletId, publicKeyHex }: KnownKey,
  curve: MessageAlgorithm["curve"],
  { signal, traceparent }: SignOptions,
): Promise<void> {
  const onChain = await client.readKey({ dwalletId, curve }, { signal, traceparent });
  if (onChain.publicKeyHex !== publicKeyHex)
    throw invalid("publicKeyHex", "differs from the dWallet's public key on the chain");
}

/** Parses a public key from the caller. Throws VALIDATION when it cannot be a public key of the curve. */
export function readPublicKeyHex(hex: string, curve: MessageAlgorithm["curve"]): Uint8Array {
  const length = curve === "SECP256K1" || curve === "SECP256R1" ? 33 : 32;
  if (typeof hex !== "string" || hex.length !== 2 * length || !/^[0-9a-f]*$/.test(hex))
    throw invalid("publicKeyHex", `must be ${2 * length} lower-case hex digits`);
  const publicKey = hexToBytes(hex);
  if (curve === "SECP256K1" && !secp256k1.utils.isValidPublicKey(publicKey, true))
    throw invalid("publicKeyHex", "is not a point on the curve");
  return publicKey;
}
