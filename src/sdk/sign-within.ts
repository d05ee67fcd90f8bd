import { sha256 } from "@noble/hashes/sha2.js";
import { type SignRequest, SignRequest_Status as Status } from "../../gen/client/tss/v1/signing_pb.ts";
import { equalBytes } from "../protocol/bytes.ts";
import { publicKeyFromDWalletOutput } from "../protocol/dwallet-output.ts";
import type { Action } from "./action.ts";
import { awaitSignature } from "./await-signature.ts";
import { checkPresign } from "./check-presign.ts";
import { isUuid } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import { openFittingShare } from "./fitting-share.ts";
import { protoTriple } from "./names.ts";
import { readActiveDWallet } from "./read-dwallet.ts";
import { encodeResumeToken, type SignPoint } from "./resume-token.ts";
import type { CheckedSign } from "./sign.ts";
import type { SignResult, SignStage } from "./sign-types.ts";

/** Signs within an action that already owns the secrets. */
export async function signWithin(
  context: ClientContext,
  action: Action<SignStage>,
  { source, dwalletId, triple, idempotencyKey, message, given }: CheckedSign,
): Promise<SignResult> {
  const { network } = context;
  const messageDigest = sha256(message);
  const point: SignPoint = { kind: "sign", network, dwalletId, triple, messageDigest, idempotencyKey };
  action.facts["dwalletId"] = dwalletId;
  action.facts["idempotencyKey"] = idempotencyKey;
  await action.resumeAt(encodeResumeToken(point));
  action.stage("dwallet");
  const dwallet = await readActiveDWallet(context, action, dwalletId, triple.curve);
  const { publicOutput } = dwallet.state;
  const { share, parameters } = await openFittingShare(context, action, dwallet, source, given);

  action.stage("reserve");
  const reservation = { dwalletId, ...protoTriple(triple), message };
  const headers = { "idempotency-key": idempotencyKey };
  const reserved = await context.call(
    action,
    (callOptions) => context.raw.signing.reserveSign(reservation, callOptions),
    headers,
  );
  const { signRequestId } = reserved;
  action.facts["signRequestId"] = signRequestId;
  if (isUuid(signRequestId)) await action.resumeAt(encodeResumeToken({ ...point, signRequestId }));
  let request: SignRequest;
  if (reserved.status === Status.prepared) {
    if (!equalBytes(reserved.dwalletPublicOutput, publicOutput)) {
      throw new TssError("OUTPUT_MISMATCH", "the service's public output differs from the chain's");
    }
    const { presignId, presign } = reserved;
    action.stage("compute");
    await checkPresign(context, action, { presignId, presign, triple, dwalletId });
    const purpose = { dwalletId, triple, message };
    const userSignMessage = await context.madeHalves.for(presign, purpose, () =>
      context.engine.createSignMessage({
        triple,
        parameters,
        dwalletOutput: publicOutput,
        userSecretKeyShare: share,
        presign,
        message,
        signal: action.signal,
      }),
    );
    action.stage("submit");
    const submission = { signRequestId, userSignMessage };
    request = await context.call(action, (callOptions) =>
      context.raw.signing.submitSign(submission, callOptions),
    );
  } else {
    // The idempotency key was used before, and its request has advanced.
    request = await context.call(action, (callOptions) =>
      context.raw.signing.getSign({ signRequestId }, callOptions),
    );
  }
  const publicKey = publicKeyFromDWalletOutput(triple.curve, publicOutput);
  return await awaitSignature(context, action, request, { triple, message, publicKey });
}
