import { concatBytes } from "@noble/hashes/utils.js";
import { CURVES, type CurveName, curveNumber } from "../../protocol/algorithms.ts";
import { bigIntToLittleEndian, encodeVector } from "../../protocol/bytes.ts";
import type { Steps } from "../../protocol/chain/read-errors.ts";
import { decodeUserShare } from "../../protocol/dwallet-output.ts";
import {
  type CurveArithmetic,
  type CurvePoint,
  curveByNumber,
  encodePoint,
  encodeScalar,
  scalarJson,
  scaleBase,
} from "../../protocol/proofs/curve.ts";
import {
  shareProofTranscript,
  shareRandomizers,
  type UserDkgMessage,
} from "../../protocol/proofs/dkg-transcripts.ts";
import {
  FISCHLIN_REPETITIONS,
  findFischlinAnswer,
  fischlinCommonHash,
} from "../../protocol/proofs/fischlin.ts";
import {
  encodeUserPublicOutput,
  type NetworkKeyParts,
  readNetworkKeyParts,
} from "../../protocol/proofs/network-key-parts.ts";
import { rejectionReason } from "../../protocol/proofs/rejected-input.ts";
import { EngineError } from "./engine.ts";
import { randomScalar } from "./random-scalar.ts";

/**
 * Proves for one session that the user knows the share x_A behind X_A = x_A G, and computes the output of the DKG. The
 * proof applies Fischlin's transform (Crypto 2005) to Schnorr's proof: 16 times a first message M = m G and the first
 * challenge c for which the hash of the response z = m + c x_A has a leading zero byte. The first messages are random,
 * so two calls return different messages and outputs for one share. Takes about a quarter of a second.
 *
 * noble multiplies points by secrets and aims at constant time. The responses use BigInt, whose time depends on the
 * share: do not run this where others can measure it to the microsecond. Intermediate numbers cannot be overwritten.
 * Throws EngineError for malformed parameters or a malformed share.
 */
export function* createDkgMessage(
  curveName: CurveName,
  parameters: Uint8Array,
  sessionDigest: Uint8Array,
  userSecretKeyShare: Uint8Array,
): Steps<DkgMessage> {
  const curve = curveByNumber(curveNumber(curveName));
  if (sessionDigest.length !== 32)
    throw new EngineError("DKG message: the session digest must have 32 bytes");
  const { key, share } = readInput(curve, parameters, userSecretKeyShare);
  const message = yield* proveShare(curve, sessionDigest, share);
  const randomizers = shareRandomizers(curve, sessionDigest, key.publicShares, message);
  return {
    userDkgMessage: encodeMessage(curve, message),
    userPublicOutput: encodeUserPublicOutput(curve, message.publicShare, randomizers, key),
  };
}

/** The user's half of a DKG without the share's encryption, in ika-wasm 0.2.1's layouts. */
export interface DkgMessage {
  /** 00 | vec(16 first messages | 16 responses | 16 challenges | X_A): 1,381 bytes on the secp curves, else 1,331. */
  readonly userDkgMessage: Uint8Array;
  /** The output that the user expects the network to publish: 238 bytes on the secp curves, else 232. */
  readonly userPublicOutput: Uint8Array;
}

function* proveShare(
  curve: CurveArithmetic,
  sessionDigest: Uint8Array,
  share: bigint,
): Steps<UserDkgMessage> {
  const publicShare = scaleBase(curve, share);
  const nonces = Array.from({ length: FISCHLIN_REPETITIONS }, () => randomScalar(curve));
  const masks: readonly CurvePoint[] = nonces.map((nonce) => scaleBase(curve, nonce));
  const commonHash = fischlinCommonHash(shareProofTranscript(curve, sessionDigest, publicShare, masks));
  const answers: { readonly challenge: bigint; readonly response: bigint }[] = [];
  for (const [index, nonce] of nonces.entries()) {
    yield;
    const next = (response: bigint): bigint => (response + share) % curve.order;
    const json = (response: bigint) => scalarJson(curve, response);
    const answer = findFischlinAnswer(commonHash, index, nonce, next, json);
    if (answer === undefined) throw new EngineError("DKG message: no challenge was found");
    answers.push(answer);
  }
  return {
    masks,
    responses: answers.map(({ response }) => response),
    challenges: answers.map(({ challenge }) => challenge),
    publicShare,
  };
}

function encodeMessage(curve: CurveArithmetic, message: UserDkgMessage): Uint8Array {
  const body = concatBytes(
    ...message.masks.map((mask) => encodePoint(curve, mask)),
    ...message.responses.map((response) => encodeScalar(curve, response)),
    ...message.challenges.map((challenge) => encodeVector(bigIntToLittleEndian(challenge, 16))),
    encodePoint(curve, message.publicShare),
  );
  return concatBytes(Uint8Array.of(0), encodeVector(body));
}

function readInput(
  curve: CurveArithmetic,
  parameters: Uint8Array,
  userSecretKeyShare: Uint8Array,
): { readonly key: NetworkKeyParts; readonly share: bigint } {
  try {
    const name = CURVES[curve.constants.curve]!;
    return { key: readNetworkKeyParts(curve, parameters), share: decodeUserShare(name, userSecretKeyShare) };
  } catch (error) {
    const reason = rejectionReason(error);
    throw reason === undefined ? error : new EngineError(`DKG message: ${reason}`);
  }
}
