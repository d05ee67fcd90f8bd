import { sha256 } from "@noble/hashes/sha2.js";
import {
  type SignRequest,
  SignRequest_Status as Status,
} from "../../../../../gen/client/tss/v1/signing_pb.ts";
import { type AlgorithmTriple, unsupportedAlgorithmName } from "../../../../protocol/algorithms.ts";
import { equalBytes } from "../../../../protocol/bytes.ts";
import { type ChainPresignSession, parsePresignSession } from "../../../../protocol/chain/chain-objects.ts";
import { isObjectId } from "../../../../protocol/chain/object-id.ts";
import { PollTimeoutError, sleep } from "../../../../protocol/chain/poll.ts";
import { publicKeyFromDWalletOutput } from "../../../../protocol/dwallet-output.ts";
import { PRESIGN_VERSION, presignVersion } from "../../../../protocol/presign-version.ts";
import { verifySignature } from "../../../../protocol/signatures/verify-signature.ts";
import type { Action } from "../../action.ts";
import { PRESIGN } from "../../chain/object-kinds.ts";
import { readActiveDWallet, readObject } from "../../chain/read-dwallet.ts";
import { isUuid, unsupportedAlgorithm } from "../../checks.ts";
import type { ClientContext } from "../../context.ts";
import { TssError } from "../../errors.ts";
import { protoTriple, tripleOfProto } from "../../names.ts";
import { openFittingShare } from "../recovery/recover-within.ts";
import { encodeResumeToken, type SignPoint } from "../resume-token.ts";
import type { CheckedSign } from "./sign-args.ts";
import { followSign } from "./watch-sign.ts";

/** Signs within an action that already owns the secrets. */
export async function signWithin(
  context: ClientContext,
  action: Action<SignStage>,
  checked: CheckedSign,
): Promise<SignResult> {
  const { triple, message } = checked;
  const { request, publicKey } = await giveHalf(context, action, checked);
  return await awaitSignature(context, action, request, { triple, message, publicKey });
}

/**
 * Reserves a presign, computes the user's half and submits it. With `holdSeconds`, the half waits for a release: the
 * client then gives no half to a service that does not confirm the hold.
 */
export async function giveHalf(
  context: ClientContext,
  action: Action<SignStage>,
  { source, dwalletId, triple, idempotencyKey, message, given }: CheckedSign,
  holdSeconds?: number,
): Promise<GivenHalf> {
  const { network } = context;
  const messageDigest = sha256(message);
  const point: SignPoint = { kind: "sign", network, dwalletId, triple, messageDigest, idempotencyKey };
  action.facts["dwalletId"] = dwalletId;
  action.facts["idempotencyKey"] = idempotencyKey;
  // A token begins no hold: the same call with the same key continues it.
  const isResumable = holdSeconds === undefined;
  if (isResumable) await action.resumeAt(encodeResumeToken(point));
  action.stage("dwallet");
  const dwallet = await readActiveDWallet(context, action, dwalletId, triple.curve);
  const { publicOutput } = dwallet.state;
  const { share, parameters } = await openFittingShare(context, action, dwallet, source, given);

  action.stage("reserve");
  const hold = holdSeconds === undefined ? {} : { holdSeconds };
  const reservation = { dwalletId, ...protoTriple(triple), message, ...hold };
  const headers = { "idempotency-key": idempotencyKey };
  const reserved = await context.call(
    action,
    (callOptions) => context.raw.signing.reserveSign(reservation, callOptions),
    headers,
  );
  const { signRequestId } = reserved;
  action.facts["signRequestId"] = signRequestId;
  if (isResumable && isUuid(signRequestId))
    await action.resumeAt(encodeResumeToken({ ...point, signRequestId }));
  let request: SignRequest;
  if (reserved.status === Status.prepared) {
    if (reserved.holdSeconds !== holdSeconds)
      throw new TssError("WRONG_STATE", "the service does not hold the half as long as asked");
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
  return { request, publicKey: publicKeyFromDWalletOutput(triple.curve, publicOutput) };
}

/** A request whose half is submitted, and the chain's public key of its dWallet. */
export interface GivenHalf {
  readonly request: SignRequest;
  readonly publicKey: Uint8Array;
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
 * Compares a presign with the chain: its object must exist, be completed, have this algorithm, belong to this dWallet
 * or to all, and contain exactly these bytes. Throws PRESIGN_MISMATCH otherwise. So the client never computes a half
 * for a presign that the network did not make or has already signed with.
 */
async function checkPresign(context: ClientContext, action: Action, offered: OfferedPresign): Promise<void> {
  const { presignId, presign, triple, dwalletId } = offered;
  if (!isObjectId(presignId)) throw mismatch("the presign's id is not an object's id");
  const session = await awaitSession(context, action, presignId);
  if (session?.state.kind !== "Completed") throw mismatch("the chain has no such presign");
  const isFit =
    session.id === presignId &&
    session.curveNumber === triple.curveNumber &&
    session.signatureAlgorithmNumber === triple.signatureAlgorithmNumber &&
    (session.dwalletId === undefined || session.dwalletId === dwalletId);
  if (!isFit) {
    const name = unsupportedAlgorithmName(session.curveNumber, session.signatureAlgorithmNumber);
    if (name !== undefined) throw unsupportedAlgorithm(name);
    throw mismatch("the presign is for another algorithm or dWallet");
  }
  if (!equalBytes(session.state.output, presign)) throw mismatch("the presign is not the one on the chain");
  const version = presignVersion(presign);
  if (version !== PRESIGN_VERSION) {
    const message = `the presign is of version ${version}, and this client signs with version ${PRESIGN_VERSION} alone`;
    throw new TssError("NETWORK_UNSUPPORTED", message);
  }
}

/** A presign from the service, and its intended use. */
interface OfferedPresign {
  readonly presignId: string;
  readonly presign: Uint8Array;
  readonly triple: AlgorithmTriple;
  readonly dwalletId: string;
}

/** The delays before each further read: the client's fullnode may lag behind the service's. */
const WAITS_MS = [50, 100, 200, 400, 800];

/** Returns the presign's session once it has ended, or its last state when the retries are used up. */
async function awaitSession(
  context: ClientContext,
  action: Action,
  presignId: string,
): Promise<ChainPresignSession | undefined> {
  for (let look = 0; ; look++) {
    const content = await readObject(context, action, PRESIGN, presignId);
    const session = content && parsePresignSession(content);
    const waitMs = WAITS_MS[look];
    if ((session !== undefined && session.state.kind !== "Requested") || waitMs === undefined) return session;
    await sleep(waitMs, action.signal);
  }
}

function mismatch(message: string): TssError {
  return new TssError("PRESIGN_MISMATCH", message);
}

/**
 * Follows a submitted request until it completes, and verifies the signature. A failed request throws at once, with the
 * failure's reason.
 */
async function awaitSignature(
  context: ClientContext,
  action: Action<SignStage>,
  first: SignRequest,
  expected: ExpectedSignature,
): Promise<SignResult> {
  const { signRequestId } = first;
  const completed = await untilCompleted(context, action, first);
  action.stage("verify");
  const { signature, signSessionId, txDigest } = completed;
  const { triple, message, publicKey } = expected;
  if (
    signature === undefined ||
    signSessionId === undefined ||
    !verifySignature({ ...triple, publicKey, message, signature })
  ) {
    throw new TssError("SIGNATURE_INVALID", "the signature does not verify under the dWallet's public key");
  }
  return { signature, signRequestId, signSessionId, txDigest: txDigest ?? null };
}

/** The values that a signature must verify against. They come from the caller and the chain, never from the service. */
interface ExpectedSignature {
  readonly triple: AlgorithmTriple;
  readonly message: Uint8Array;
  readonly publicKey: Uint8Array;
}

async function untilCompleted(
  context: ClientContext,
  action: Action<SignStage>,
  first: SignRequest,
): Promise<SignRequest> {
  let reported: Status | undefined;
  for await (const request of followSign(context, action, first)) {
    if (action.remainingMs() === 0) break;
    if (request.status !== reported) {
      reported = request.status;
      if (reported === Status.queued) action.stage("queued");
      if (reported === Status.submitted) action.stage("submitted");
    }
    switch (request.status) {
      case Status.completed:
        return request;
      case Status.failed:
        throw failureOf(request);
      case Status.queued:
      case Status.submitted:
        break;
      default:
        throw new TssError("WRONG_STATE", "the user's half was not submitted; sign again with the same key");
    }
  }
  throw new PollTimeoutError("the time limit has passed");
}

/** Returns the error of a failed request. */
export function failureOf({ failure: cause, signRequestId }: SignRequest): TssError {
  return new TssError(cause?.reason ?? "NETWORK_REJECTED", cause?.message ?? "the request failed", {
    metadata: { signRequestId, refunded: String(cause?.refunded ?? false) },
  });
}

/** Follows a submitted request to its signature, and verifies it under the chain's public key. */
export async function followSubmitted(
  context: ClientContext,
  action: Action<SignStage>,
  request: SignRequest,
  triple: AlgorithmTriple,
): Promise<SignResult> {
  const { dwalletId, message } = request;
  const { state } = await readActiveDWallet(context, action, dwalletId, triple.curve);
  const publicKey = publicKeyFromDWalletOutput(triple.curve, state.publicOutput);
  return await awaitSignature(context, action, request, { triple, message, publicKey });
}

/** Follows a submitted request within an action, and sets the resume token. */
export async function resumeSignWithin(
  context: ClientContext,
  action: Action<SignStage>,
  signRequestId: string,
): Promise<SignResult> {
  const { request, triple } = await readSign(context, action, signRequestId);
  const { dwalletId, message } = request;
  if (isObjectId(dwalletId)) {
    const messageDigest = sha256(message);
    const { network } = context;
    const point = { kind: "sign", network, dwalletId, triple, messageDigest, signRequestId } as const;
    await action.resumeAt(encodeResumeToken(point));
  }
  return await followSubmitted(context, action, request, triple);
}

/** A sign request as the service reports it, and its algorithm. */
interface ReadSign {
  readonly request: SignRequest;
  readonly triple: AlgorithmTriple;
}

/** Reads a sign request. Throws UNSUPPORTED_ALGORITHM. */
export async function readSign(
  context: ClientContext,
  action: Action<SignStage>,
  signRequestId: string,
): Promise<ReadSign> {
  action.facts["signRequestId"] = signRequestId;
  action.stage("dwallet");
  const request = await context.call(action, (callOptions) =>
    context.raw.signing.getSign({ signRequestId }, callOptions),
  );
  const triple = tripleOfProto(request.curve, request.signatureAlgorithm, request.hashScheme);
  if (triple === undefined)
    throw new TssError("UNSUPPORTED_ALGORITHM", "this client does not support the algorithm");
  return { request, triple };
}
