import { sha256 } from "@noble/hashes/sha2.js";
import { type SignRequest, SignRequest_Status as Status } from "../../gen/proto/tss/v1/signing_pb.ts";
import { SecretBytes } from "../crypto/secret-bytes.ts";
import { equalBytes } from "../protocol/bytes.ts";
import { publicKeyFromDWalletOutput } from "../protocol/dwallet-output.ts";
import { type Action, runAction } from "./action.ts";
import { awaitSignature } from "./await-signature.ts";
import { call } from "./call.ts";
import { checkPresign } from "./check-presign.ts";
import {
  checkIdempotencyKey,
  checkMessage,
  checkObjectId,
  checkSeed,
  checkTimeout,
  checkTriple,
  isUuid,
  readSecretHex,
  readSessionDigest,
} from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import { openFittingShare } from "./fitting-share.ts";
import { protoTriple } from "./names.ts";
import { ownSeed } from "./own-seed.ts";
import { readActiveDWallet } from "./read-dwallet.ts";
import type { ShareSource } from "./recover-share.ts";
import type { SignPoint } from "./resume-token.ts";
import type { SignArgs, SignOptions, SignResult, SignStage } from "./sign-types.ts";

/**
 * Signs one message: reserves a presign, computes the user's half here, submits it, follows the request and verifies
 * the signature. Nothing is reserved before parameters, engine and share are ready and the share is known to fit the
 * dWallet; nothing is charged before the half is submitted, and it is charged once.
 *
 * Throws a TssError. One that `resume` can go on from has a `resumeToken`, and `idempotencyKey` in its metadata: `sign`
 * with the same arguments and key also goes on with the very same request.
 */
export async function sign(
  context: ClientContext,
  args: SignArgs,
  options: SignOptions = {},
): Promise<SignResult> {
  const { timeoutMs = 180_000 } = args;
  checkTimeout(timeoutMs);
  const request = checkSignArgs(context, args, options.idempotencyKey ?? randomKey());
  return await runAction(timeoutMs, options, (action) =>
    signWithin(context, action, ownSecrets(action, request)),
  );
}

/** What is signed, and under which key: checked, and copied where the caller may change it. */
export interface CheckedSign {
  readonly source: ShareSource;
  /** Where the signature stands before anything was asked for. */
  readonly point: SignPoint & { readonly idempotencyKey: string };
  readonly message: Uint8Array;
  readonly given: SecretBytes | undefined;
}

/** Checks the arguments of a signature. Throws a TssError. */
export function checkSignArgs(context: ClientContext, args: SignArgs, idempotencyKey: string): CheckedSign {
  checkSeed(args.seed);
  const triple = checkTriple(args.curve, args.signatureAlgorithm, args.hashScheme);
  checkMessage(args.message);
  // A copy: the caller may use the buffer again before the half is computed.
  const message = Uint8Array.from(args.message);
  const { dwalletId, userSecretKeyShareHex: shareHex } = args;
  checkObjectId("dwalletId", dwalletId);
  if (args.sessionDigestHex !== undefined) readSessionDigest(args.sessionDigestHex);
  checkIdempotencyKey(idempotencyKey);
  const { network } = context;
  return {
    source: args,
    point: { kind: "sign", network, dwalletId, triple, messageDigest: sha256(message), idempotencyKey },
    message,
    given:
      shareHex === undefined ? undefined : new SecretBytes(readSecretHex("userSecretKeyShareHex", shareHex)),
  };
}

/** The same signature, whose secrets the action has taken over: the share, and a copy of the seed. */
export function ownSecrets(action: Action, request: CheckedSign): CheckedSign {
  const { source, given } = request;
  if (given !== undefined) action.own(given);
  return { ...request, source: { ...source, seed: ownSeed(action, source.seed) } };
}

/** Signs within an action, which has taken the secrets over. */
export async function signWithin(
  context: ClientContext,
  action: Action<SignStage>,
  { source, point, message, given }: CheckedSign,
): Promise<SignResult> {
  const { dwalletId, triple, idempotencyKey } = point;
  action.facts["dwalletId"] = dwalletId;
  action.facts["idempotencyKey"] = idempotencyKey;
  await action.resumeAt(point);
  action.stage("dwallet");
  const dwallet = await readActiveDWallet(context, action, dwalletId, triple.curve);
  const { publicOutput } = dwallet.state;
  const { share, parameters } = await openFittingShare(context, action, dwallet, source, given);

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
  if (isUuid(signRequestId)) await action.resumeAt({ ...point, signRequestId });
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
}

function randomKey(): string {
  return globalThis.crypto.randomUUID();
}
