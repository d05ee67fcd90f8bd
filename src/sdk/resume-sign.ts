import { publicKeyFromDWalletOutput } from "../protocol/dwallet-output.ts";
import { type ActionOptions, runAction } from "./action.ts";
import { awaitSignature } from "./await-signature.ts";
import { call } from "./call.ts";
import { checkUuid } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import { tripleOfProto } from "./names.ts";
import { readActiveDWallet } from "./read-dwallet.ts";
import type { SignResult, SignStage } from "./sign-types.ts";

/** What resuming takes. */
export interface ResumeSignArgs {
  /** The id that the error's metadata named. */
  readonly signRequestId: string;
  /** Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Follows a request that was submitted before to its signature, without seed or share, and never charges. The message
 * and the dWallet are the service's word; the signature is verified for them under the chain's public key.
 * Throws a TssError; WRONG_STATE if the user's half was never submitted: then call `sign` with the same arguments and
 * idempotency key.
 */
export async function resumeSign(
  context: ClientContext,
  { signRequestId, timeoutMs = 180_000 }: ResumeSignArgs,
  options: ActionOptions<SignStage> = {},
): Promise<SignResult> {
  checkUuid("signRequestId", signRequestId);
  return await runAction(timeoutMs, options, async (action) => {
    action.facts["signRequestId"] = signRequestId;
    action.stage("dwallet");
    const request = await call(action, (callOptions) =>
      context.raw.signing.getSign({ signRequestId }, callOptions),
    );
    const { dwalletId, message } = request;
    const triple = tripleOfProto(request.curve, request.signatureAlgorithm, request.hashScheme);
    if (triple === undefined)
      throw new TssError("UNSUPPORTED_ALGORITHM", "this client does not know the algorithm");
    const { state } = await readActiveDWallet(context, action, dwalletId, triple.curve);
    const publicKey = publicKeyFromDWalletOutput(triple.curve, state.publicOutput);
    return await awaitSignature(context, action, request, { triple, message, publicKey });
  });
}
