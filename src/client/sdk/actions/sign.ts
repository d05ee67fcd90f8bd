import type { AlgorithmTriple } from "../../../protocol/algorithms.ts";
import { SecretBytes } from "../../crypto/secret-bytes.ts";
import { type Action, type ActionOptions, ownSeed, runAction } from "../action.ts";
import {
  checkIdempotencyKey,
  checkMessage,
  checkObjectId,
  checkSeed,
  checkTimeout,
  checkTriple,
  checkUuid,
  readSecretHex,
  readSessionDigest,
} from "../checks.ts";
import type { ClientContext } from "../context.ts";
import type { Hash, SignatureAlgorithm } from "../names.ts";
import { randomUuid } from "../service-calls.ts";
import { loadFlows } from "./load-flows.ts";
import type { ShareSource } from "./recover-share.ts";

/**
 * Signs one message: reserves a presign, computes the user's half here, submits it, follows the request and verifies
 * the signature. It reserves nothing before parameters, engine and share are ready and the share fits the dWallet. The
 * service charges once, when the half is submitted.
 *
 * Errors that `resume` can continue from have a `resumeToken`, and `idempotencyKey` in their metadata: `sign` with the
 * same arguments and key continues the same request.
 *
 * @throws {TssError} SHARE_MISMATCH when the given share does not fit the dWallet.
 * @throws {TssError} SIGNATURE_INVALID when the signature does not verify.
 */
export async function sign(
  context: ClientContext,
  args: SignArgs,
  options: SignOptions = {},
): Promise<SignResult> {
  const { timeoutMs = 180_000 } = args;
  checkTimeout(timeoutMs);
  const request = checkSignArgs(args, options.idempotencyKey ?? randomUuid());
  return await runAction(timeoutMs, options, async (action) => {
    const own = ownSecrets(action, request);
    const { signWithin } = await loadFlows(action);
    return await signWithin(context, action, own);
  });
}

/** The checked arguments of a signature, copied where the caller may change them. */
export interface CheckedSign {
  readonly source: ShareSource;
  readonly dwalletId: string;
  readonly triple: AlgorithmTriple;
  readonly idempotencyKey: string;
  readonly message: Uint8Array;
  readonly given: SecretBytes | undefined;
}

/** Checks the arguments of a signature. Throws VALIDATION, UNSUPPORTED_ALGORITHM or MESSAGE_TOO_LARGE. */
export function checkSignArgs(args: SignArgs, idempotencyKey: string): CheckedSign {
  checkSeed(args.seed);
  const triple = checkTriple(args.curve, args.signatureAlgorithm, args.hashScheme);
  checkMessage(args.message);
  // A copy, because the caller may reuse its buffer before the half is computed.
  const message = Uint8Array.from(args.message);
  const { dwalletId, userSecretKeyShareHex: shareHex } = args;
  checkObjectId("dwalletId", dwalletId);
  if (args.sessionDigestHex !== undefined) readSessionDigest(args.sessionDigestHex);
  checkIdempotencyKey(idempotencyKey);
  return {
    source: args,
    dwalletId,
    triple,
    idempotencyKey,
    message,
    given:
      shareHex === undefined ? undefined : new SecretBytes(readSecretHex("userSecretKeyShareHex", shareHex)),
  };
}

/** Returns the same signature with secrets that the action owns: the share, and a copy of the seed. */
export function ownSecrets(action: Action, request: CheckedSign): CheckedSign {
  const { source, given } = request;
  if (given !== undefined) action.own(given);
  return { ...request, source: { ...source, seed: ownSeed(action, source.seed) } };
}

/** The stages of a signature, in order. `queued` and `submitted` are states that the service reports. */
export type SignStage =
  | "dwallet"
  | "parameters"
  | "share"
  | "reserve"
  | "compute"
  | "submit"
  | "queued"
  | "submitted"
  | "verify";

/** Arguments of `sign`. */
export interface SignArgs extends ShareSource {
  readonly dwalletId: string;
  readonly signatureAlgorithm: SignatureAlgorithm;
  readonly hashScheme: Hash;
  /** The message before hashing, 1 to 16,381 bytes. */
  readonly message: Uint8Array;
  /**
   * The user's share from the onboarding. The client checks that it fits the dWallet, but not that it follows from the
   * seed. Default: derive it from the seed and check it, which asks the service for the DKG's session unless
   * `sessionDigestHex` is given.
   */
  readonly userSecretKeyShareHex?: string | undefined;
  /** The time limit of the action, in milliseconds. Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** Options of a signature. */
export interface SignOptions extends ActionOptions<SignStage> {
  /**
   * The idempotency key: the same key with the same arguments is the same request and is charged once. Default: a
   * random key, which errors carry in their metadata.
   */
  readonly idempotencyKey?: string | undefined;
}

/** A verified signature. */
export interface SignResult {
  /** ECDSA: 65 bytes r, s, v with low s; v is the recovery id. Others: 64 bytes. */
  readonly signature: Uint8Array;
  readonly signRequestId: string;
  /** The object id of the sign session on the chain. */
  readonly signSessionId: string;
  /** The digest of the transaction that requested the signature from the network. */
  readonly txDigest: string | null;
}

/**
 * Follows a submitted request to its signature, without seed or share, and never charges. The message and the dWallet
 * come from the service; the client verifies the signature for them under the chain's public key.
 *
 * @throws {TssError} WRONG_STATE when the user's half was never submitted; call `sign` with the same arguments and
 *   idempotency key.
 */
export async function resumeSign(
  context: ClientContext,
  { signRequestId, timeoutMs = 180_000 }: ResumeSignArgs,
  options: ActionOptions<SignStage> = {},
): Promise<SignResult> {
  checkUuid("signRequestId", signRequestId);
  return await runAction(timeoutMs, options, async (action) => {
    const { resumeSignWithin } = await loadFlows(action);
    return await resumeSignWithin(context, action, signRequestId);
  });
}

/** Arguments of `resumeSign`. */
export interface ResumeSignArgs {
  /** The `signRequestId` in the error's metadata. */
  readonly signRequestId: string;
  /** The time limit of the action, in milliseconds. Default 180,000. */
  readonly timeoutMs?: number | undefined;
}
