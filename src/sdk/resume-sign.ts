import { sha256 } from "@noble/hashes/sha2.js";
import type { SignRequest } from "../../gen/proto/tss/v1/signing_pb.ts";
import type { AlgorithmTriple } from "../protocol/algorithms.ts";
import { publicKeyFromDWalletOutput } from "../protocol/dwallet-output.ts";
import { type Action, type ActionOptions, runAction } from "./action.ts";
import { awaitSignature } from "./await-signature.ts";
import { call } from "./call.ts";
import { checkUuid, isObjectId } from "./checks.ts";
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
    const { request, triple } = await readSign(context, action, signRequestId);
    const { dwalletId, message } = request;
    const messageDigest = sha256(message);
    const { network } = context;
    if (isObjectId(dwalletId))
      await action.resumeAt({ kind: "sign", network, dwalletId, triple, messageDigest, signRequestId });
    return await followSubmitted(context, action, request, triple);
  });
}

/** A sign request as the service says it, and its algorithm. */
export interface ReadSign {
  readonly request: SignRequest;
  readonly triple: AlgorithmTriple;
}

/** Asks for a sign request. Throws UNSUPPORTED_ALGORITHM. */
export async function readSign(
  context: ClientContext,
  action: Action<SignStage>,
  signRequestId: string,
): Promise<ReadSign> {
  action.facts["signRequestId"] = signRequestId;
  action.stage("dwallet");
  const request = await call(action, (callOptions) =>
    context.raw.signing.getSign({ signRequestId }, callOptions),
  );
  const triple = tripleOfProto(request.curve, request.signatureAlgorithm, request.hashScheme);
  if (triple === undefined)
    throw new TssError("UNSUPPORTED_ALGORITHM", "this client does not know the algorithm");
  return { request, triple };
}

/** Follows a submitted request to its signature, which is verified under the chain's public key. */
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
