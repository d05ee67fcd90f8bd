import { sha256 } from "@noble/hashes/sha2.js";
import { SignRequest_Status as Status } from "../../gen/proto/tss/v1/signing_pb.ts";
import { bytesToHex, equalBytes } from "../protocol/bytes.ts";
import { sessionIdentifierDigest } from "../protocol/session-identifier.ts";
import { type Action, type ActionOptions, runAction } from "./action.ts";
import { checkMessage, checkSeed, checkTimeout, invalid, readSessionDigest } from "./checks.ts";
import { completeOnboard } from "./complete-onboard.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import { getOrMake } from "./get-or-create.ts";
import { makeDWallet } from "./onboard.ts";
import type { OnboardResult, OnboardStage } from "./onboard-types.ts";
import { ownSeed } from "./own-seed.ts";
import { followSubmitted, readSign } from "./resume-sign.ts";
import { type OnboardPoint, readResumeToken, type SignPoint } from "./resume-token.ts";
import { type CheckedSign, checkSignArgs, ownSecrets, signWithin } from "./sign.ts";
import type { SignArgs, SignResult, SignStage } from "./sign-types.ts";

/**
 * What resuming takes beside the token, which holds no secret. An onboarding needs the seed. A signature whose half was
 * submitted needs nothing; before that it needs the seed and the message, like `sign`. A dWallet and an algorithm that are
 * given must be those of a signature's token.
 */
export interface ResumeArgs
  extends Partial<
    Pick<
      SignArgs,
      | "seed"
      | "message"
      | "userSecretKeyShareHex"
      | "sessionDigestHex"
      | "acceptUnverifiedShare"
      | "dwalletId"
      | "curve"
      | "signatureAlgorithm"
      | "hashScheme"
    >
  > {
  /** Default 600,000. */
  readonly timeoutMs?: number | undefined;
}

/** What came of the action that the token stands for. */
export type ResumeResult =
  | ({ readonly kind: "onboard" } & OnboardResult)
  | ({ readonly kind: "sign"; readonly dwalletId: string; readonly message: Uint8Array } & SignResult);

/**
 * Goes on with the action that a token stands for, in this process or in another one: one dWallet, one charge, one
 * signature, however often it is resumed. The token decides nothing that is trusted: a share must follow from the seed, a
 * signature must verify under the chain's public key, over the message whose digest the token holds.
 *
 * But it names the dWallet and the algorithm that sign: who takes tokens from others gives these, to have them compared.
 *
 * Throws a TssError: VALIDATION for a token that is malformed, of another version or of another network, for a message,
 * dWallet or algorithm that is not the token's, and where an argument is missing that is needed; `metadata.field` names it.
 */
export async function resume(
  context: ClientContext,
  token: string,
  args: ResumeArgs = {},
  options: ActionOptions<OnboardStage | SignStage> = {},
): Promise<ResumeResult> {
  const { timeoutMs = 600_000 } = args;
  checkTimeout(timeoutMs);
  if (args.seed !== undefined) checkSeed(args.seed);
  if (args.sessionDigestHex !== undefined) readSessionDigest(args.sessionDigestHex);
  const point = readResumeToken(token, context.network);
  if (point.kind === "onboard") {
    const { seed } = args;
    if (seed === undefined) throw missing("seed", "an onboarding needs it");
    return await runAction(timeoutMs, options, async (action) => {
      const own = { ...args, seed: ownSeed(action, seed) };
      return { kind: "onboard", ...(await resumeOnboardAt(context, action, own, point)) };
    });
  }
  const again = signAgain(context, args, point);
  return await runAction(timeoutMs, options, async (action) => {
    const own = again instanceof TssError ? again : ownSecrets(action, again);
    await action.resumeAt(point);
    return await resumeSignAt(context, action, point, own);
  });
}

async function resumeOnboardAt(
  context: ClientContext,
  action: Action<OnboardStage>,
  { seed, sessionDigestHex }: ResumeArgs & { readonly seed: Uint8Array },
  point: OnboardPoint,
): Promise<OnboardResult> {
  const { curve, sessionIdentifier, senderAddress, dwalletId } = point;
  if (dwalletId === undefined) {
    if (sessionIdentifier === undefined) throw missing("token", "it names neither a session nor a dWallet");
    const { name } = point;
    if (name !== undefined)
      return await getOrMake(context, action, seed, { ...point, sessionIdentifier, name });
    return await makeDWallet(context, action, seed, { ...point, sessionIdentifier });
  }
  await action.resumeAt(point);
  action.stage("network");
  const known =
    sessionIdentifier && senderAddress && sessionIdentifierDigest(sessionIdentifier, senderAddress);
  return await completeOnboard(context, action, {
    ...{ seed, curve, dwalletId },
    sessionDigestHex: sessionDigestHex ?? (known && bytesToHex(known)),
  });
}

/** The arguments of `sign` again, or what is missing of them. */
function signAgain(context: ClientContext, args: ResumeArgs, point: SignPoint): CheckedSign | TssError {
  const { seed, message } = args;
  const { dwalletId } = point;
  const { curve, signatureAlgorithm, hash: hashScheme } = point.triple;
  const triple = { curve, signatureAlgorithm, hashScheme };
  for (const [field, own] of Object.entries({ dwalletId, ...triple })) {
    const given = args[field as "dwalletId" | keyof typeof triple];
    if (given !== undefined && given !== own)
      throw invalid(field, "is not the one that the token was made for");
  }
  if (message !== undefined) {
    checkMessage(message);
    if (!equalBytes(sha256(message), point.messageDigest))
      throw invalid("message", "is not the one that the token was made for");
  }
  const why = "the half was not submitted, so that signing begins again with the seed and the message";
  if (seed === undefined) return missing("seed", why);
  if (message === undefined) return missing("message", why);
  if (point.idempotencyKey === undefined) return missing("token", "it holds no idempotency key");
  return checkSignArgs(context, { ...args, ...triple, seed, message, dwalletId }, point.idempotencyKey);
}

async function resumeSignAt(
  context: ClientContext,
  action: Action<SignStage>,
  point: SignPoint,
  again: CheckedSign | TssError,
): Promise<ResumeResult> {
  const { dwalletId, signRequestId } = point;
  // A request that is known is looked at first: its key is not remembered for ever, and the request is.
  if (signRequestId !== undefined) {
    const { request, triple } = await readSign(context, action, signRequestId);
    const { message } = request;
    if (
      request.dwalletId !== dwalletId ||
      triple !== point.triple ||
      !equalBytes(sha256(message), point.messageDigest)
    ) {
      throw new TssError("SIGNATURE_INVALID", "the request is of another dWallet or message than the token");
    }
    if (request.status !== Status.prepared) {
      const result = await followSubmitted(context, action, request, triple);
      return { kind: "sign", dwalletId, message, ...result };
    }
  }
  if (again instanceof TssError) throw again;
  const result = await signWithin(context, action, again);
  return { kind: "sign", dwalletId, message: again.message, ...result };
}

function missing(field: string, why: string): TssError {
  return invalid(field, why);
}
