import { SecretBytes } from "../crypto/secret-bytes.ts";
import type { AlgorithmTriple } from "../protocol/algorithms.ts";
import { type Action, runAction } from "./action.ts";
import {
  checkIdempotencyKey,
  checkMessage,
  checkObjectId,
  checkSeed,
  checkTimeout,
  checkTriple,
  readSecretHex,
  readSessionDigest,
} from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { loadFlows } from "./load-flows.ts";
import { ownSeed } from "./own-seed.ts";
import { randomUuid } from "./random-uuid.ts";
import type { ShareSource } from "./recover-share.ts";
import type { SignArgs, SignOptions, SignResult } from "./sign-types.ts";

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
