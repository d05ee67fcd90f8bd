import { sha256 } from "@noble/hashes/sha2.js";
import type { SignRequest } from "../../gen/client/tss/v1/signing_pb.ts";
import type { AlgorithmTriple } from "../protocol/algorithms.ts";
import { publicKeyFromDWalletOutput } from "../protocol/dwallet-output.ts";
import type { Action } from "./action.ts";
import { awaitSignature } from "./await-signature.ts";
import { isObjectId } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import { tripleOfProto } from "./names.ts";
import { readActiveDWallet } from "./read-dwallet.ts";
import { encodeResumeToken } from "./resume-token.ts";
import type { SignResult, SignStage } from "./sign-types.ts";

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
export interface ReadSign {
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
