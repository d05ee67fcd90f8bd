import { type ActionOptions, runAction } from "../../action.ts";
import { randomUuid } from "../../calls/service-calls.ts";
import { checkTimeout, checkUuid } from "../../checks.ts";
import type { ClientContext } from "../../context.ts";
import { loadFlows } from "../load-flows.ts";
import { checkSignArgs, ownSecrets, type SignArgs } from "./sign-args.ts";
import type { SignResult, SignStage } from "./sign-within.ts";

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

/** Options of a signature. */
export interface SignOptions extends ActionOptions<SignStage> {
  /**
   * The idempotency key: the same key with the same arguments is the same request and is charged once. Default: a
   * random key, which errors carry in their metadata.
   */
  readonly idempotencyKey?: string | undefined;
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
