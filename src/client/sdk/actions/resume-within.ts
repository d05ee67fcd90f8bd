import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { SignRequest_Status as Status } from "../../../../gen/client/tss/v1/signing_pb.ts";
import { equalBytes } from "../../../protocol/bytes.ts";
import { sessionIdentifierDigest } from "../../../protocol/chain/session-identifier.ts";
import type { Action } from "../action.ts";
import { checkMessage, invalid } from "../checks.ts";
import type { ClientContext } from "../context.ts";
import { TssError } from "../errors.ts";
import { getOrMake } from "./get-or-make.ts";
import { readImportedKey } from "./imports/import-within.ts";
import type { OnboardResult, OnboardStage } from "./onboard-within.ts";
import { completeOnboard, makeDWallet } from "./onboard-within.ts";
import {
  encodeResumeToken,
  type ImportPoint,
  type OnboardPoint,
  readResumeToken,
  type SignPoint,
} from "./resume-token.ts";
import type { SignArgs } from "./signing/sign-args.ts";
import { type CheckedSign, checkSignArgs, ownSecrets } from "./signing/sign-args.ts";
import type { SignResult, SignStage } from "./signing/sign-within.ts";
import { followSubmitted, readSign, signWithin } from "./signing/sign-within.ts";

/** Continues the action of a token within an action that owns copies of seed and message. Throws like `resume`. */
export async function resumeWithin(
  context: ClientContext,
  action: Action<OnboardStage | SignStage>,
  token: string,
  args: ResumeArgs,
): Promise<ResumeResult> {
  const point = readResumeToken(token, context.network);
  // Whoever gives a private key believes that it is imported, and then overwrites it.
  if (args.privateKey !== undefined && point.kind !== "import") throw invalid("privateKey", OTHER_ACTION);
  if (point.kind !== "sign") {
    const { seed, curve = point.curve, dwalletId = point.dwalletId } = args;
    if (curve !== point.curve) throw invalid("curve", OTHER_ACTION);
    if (point.dwalletId !== undefined && dwalletId !== point.dwalletId)
      throw invalid("dwalletId", OTHER_ACTION);
    if (seed === undefined) throw invalid("seed", "is required for an onboarding or an import");
    return { kind: "onboard", ...(await resumeOnboardAt(context, action, { ...args, seed }, point)) };
  }
  const again = signAgain(args, point);
  const own = again instanceof TssError ? again : ownSecrets(action, again);
  await action.resumeAt(encodeResumeToken(point));
  return await resumeSignAt(context, action, point, own);
}

/**
 * Arguments of `resume` besides the token, which contains no secret. An onboarding needs the seed, and an import the seed
 * and the private key. A signature needs the seed and the message until its half is submitted, and nothing after that. A
 * given dWallet, curve and algorithm must match those of the token, and a private key a token of an import.
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
  /** The key of an import: the same 32 bytes as in `importKey`. */
  readonly privateKey?: Uint8Array | undefined;
  /** The time limit of the action, in milliseconds. Default 600,000. */
  readonly timeoutMs?: number | undefined;
}

const OTHER_ACTION = "does not match the action of the token";

/** The result of the resumed action. */
export type ResumeResult =
  | ({ readonly kind: "onboard" } & OnboardResult)
  | ({ readonly kind: "sign"; readonly dwalletId: string; readonly message: Uint8Array } & SignResult);

async function resumeOnboardAt(
  context: ClientContext,
  action: Action<OnboardStage>,
  { seed, sessionDigestHex, privateKey }: ResumeArgs & { readonly seed: Uint8Array },
  point: OnboardPoint | ImportPoint,
): Promise<OnboardResult> {
  const { curve, sessionIdentifier, senderAddress, dwalletId } = point;
  const imported = point.kind === "import" ? readImportedKey(curve, privateKey) : undefined;
  if (dwalletId === undefined) {
    if (sessionIdentifier === undefined) throw invalid("token", "names neither a session nor a dWallet");
    const { name } = point;
    if (name !== undefined && imported === undefined)
      return await getOrMake(context, action, seed, { ...point, sessionIdentifier, name });
    return await makeDWallet(context, action, seed, { ...point, sessionIdentifier }, imported);
  }
  await action.resumeAt(encodeResumeToken(point));
  action.stage("network");
  const known =
    sessionIdentifier && senderAddress && sessionIdentifierDigest(sessionIdentifier, senderAddress);
  return await completeOnboard(context, action, {
    seed,
    curve,
    dwalletId,
    sessionDigestHex: sessionDigestHex ?? (known && bytesToHex(known)),
    importedPublicKey: imported?.publicKey,
  });
}

/** Rebuilds the arguments of `sign`, or returns the error for the missing ones. */
function signAgain(args: ResumeArgs, point: SignPoint): CheckedSign | TssError {
  const { seed, message } = args;
  const { dwalletId } = point;
  const { curve, signatureAlgorithm, hash: hashScheme } = point.triple;
  const triple = { curve, signatureAlgorithm, hashScheme };
  for (const [field, own] of Object.entries({ dwalletId, ...triple })) {
    const given = args[field as "dwalletId" | keyof typeof triple];
    if (given !== undefined && given !== own) throw invalid(field, OTHER_ACTION);
  }
  if (message !== undefined) {
    checkMessage(message);
    if (!equalBytes(sha256(message), point.messageDigest)) throw invalid("message", OTHER_ACTION);
  }
  const why = "the half was not submitted; to sign again, give the seed and the message";
  if (seed === undefined) return invalid("seed", why);
  if (message === undefined) return invalid("message", why);
  if (point.idempotencyKey === undefined) return invalid("token", "contains no idempotency key");
  return checkSignArgs({ ...args, ...triple, seed, message, dwalletId }, point.idempotencyKey);
}

async function resumeSignAt(
  context: ClientContext,
  action: Action<SignStage>,
  point: SignPoint,
  again: CheckedSign | TssError,
): Promise<ResumeResult> {
  const { dwalletId, signRequestId } = point;
  // Reads a known request first: the service may have forgotten its idempotency key, but keeps the request.
  if (signRequestId !== undefined) {
    const { request, triple } = await readSign(context, action, signRequestId);
    const { message } = request;
    if (
      request.dwalletId !== dwalletId ||
      triple !== point.triple ||
      !equalBytes(sha256(message), point.messageDigest)
    ) {
      throw new TssError("SIGNATURE_INVALID", "the request's dWallet or message differs from the token's");
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
