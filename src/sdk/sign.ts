import { type SignRequest, SignRequest_Status as Status } from "../../gen/proto/tss/v1/signing_pb.ts";
import { EngineError } from "../crypto/engine.ts";
import { SecretBytes } from "../crypto/secret-bytes.ts";
import { isOutputOfShare } from "../crypto/user-output.ts";
import type { CurveName } from "../protocol/algorithms.ts";
import { equalBytes } from "../protocol/bytes.ts";
import { publicKeyFromDWalletOutput } from "../protocol/dwallet-output.ts";
import { runAction } from "./action.ts";
import { awaitSignature } from "./await-signature.ts";
import { call } from "./call.ts";
import { checkPresign } from "./check-presign.ts";
import {
  checkMessage,
  checkObjectId,
  checkSeed,
  checkTimeout,
  checkTriple,
  readSecretHex,
  readSessionDigest,
} from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import { protoTriple } from "./names.ts";
import { readActiveDWallet } from "./read-dwallet.ts";
import { recoverFrom } from "./recover-share.ts";
import type { SignArgs, SignOptions, SignResult } from "./sign-types.ts";

/**
 * Signs one message: reserves a presign, computes the user's half here, submits it, follows the request and verifies
 * the signature. Nothing is reserved before parameters, engine and share are ready and the share is known to fit the
 * dWallet; nothing is charged before the half is submitted, and it is charged once.
 *
 * Throws a TssError. After TIMEOUT, ABORTED or UNREACHABLE its metadata has `idempotencyKey`, and `signRequestId` once
 * there is one: `sign` with the same arguments and key, or `resumeSign`, goes on with the very same request.
 */
export async function sign(
  context: ClientContext,
  args: SignArgs,
  options: SignOptions = {},
): Promise<SignResult> {
  const { seed, dwalletId, timeoutMs = 180_000 } = args;
  checkTimeout(timeoutMs);
  checkSeed(seed);
  const triple = checkTriple(args.curve, args.signatureAlgorithm, args.hashScheme);
  checkMessage(args.message);
  // A copy: the caller may use the buffer again before the half is computed.
  const message = Uint8Array.from(args.message);
  checkObjectId("dwalletId", dwalletId);
  if (args.sessionDigestHex !== undefined) readSessionDigest(args.sessionDigestHex);
  const idempotencyKey = options.idempotencyKey ?? randomKey();
  const { userSecretKeyShareHex: shareHex } = args;
  const given =
    shareHex === undefined ? undefined : new SecretBytes(readSecretHex("userSecretKeyShareHex", shareHex));

  return await runAction(timeoutMs, options, async (action) => {
    if (given !== undefined) action.own(given);
    action.facts["dwalletId"] = dwalletId;
    action.facts["idempotencyKey"] = idempotencyKey;
    action.stage("dwallet");
    const dwallet = await readActiveDWallet(context, action, dwalletId, triple.curve);
    const { networkEncryptionKeyId } = dwallet;
    const { publicOutput } = dwallet.state;
    action.stage("parameters");
    await context.engine.ready();
    const parameters = await context.parameters.load(action, { curve: triple.curve, networkEncryptionKeyId });
    action.stage("share");
    const share = given ?? (await recoverFrom(context, action, args, dwallet, parameters));
    if (given !== undefined && !fits(triple.curve, parameters, given, publicOutput)) {
      throw new TssError("SHARE_MISMATCH", "the user's share does not fit the dWallet's public output");
    }

    action.stage("reserve");
    const reservation = { dwalletId, ...protoTriple(triple), message };
    const headers = { "idempotency-key": idempotencyKey };
    const reserved = await call(
      action,
      (callOptions) => context.raw.signing.reserveSign(reservation, callOptions),
      headers,
    );
    const { signRequestId } = reserved;
    action.facts["signRequestId"] = signRequestId;
    let request: SignRequest;
    if (reserved.status === Status.prepared) {
      if (!equalBytes(reserved.dwalletPublicOutput, publicOutput)) {
        throw new TssError("OUTPUT_MISMATCH", "the service's public output is not the chain's");
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
      request = await call(action, (callOptions) => context.raw.signing.submitSign(submission, callOptions));
    } else {
      // The same idempotency key was used before, and that request is further on.
      request = await call(action, (callOptions) =>
        context.raw.signing.getSign({ signRequestId }, callOptions),
      );
    }
    const publicKey = publicKeyFromDWalletOutput(triple.curve, publicOutput);
    return await awaitSignature(context, action, request, { triple, message, publicKey });
  });
}

/** A share that cannot even be read does not fit either. */
function fits(
  curve: CurveName,
  parameters: Uint8Array,
  share: SecretBytes,
  publicOutput: Uint8Array,
): boolean {
  try {
    return isOutputOfShare(curve, parameters, share.reveal(), publicOutput);
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}

function randomKey(): string {
  return globalThis.crypto.randomUUID();
}
