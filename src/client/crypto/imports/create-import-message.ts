import { type CurveName, curveNumber } from "../../../protocol/algorithms.ts";
import type { Steps } from "../../../protocol/chain/read-errors.ts";
import { floorMod } from "../../../protocol/class-groups/integers.ts";
import { decodeUserShare } from "../../../protocol/dwallet-output.ts";
import { type CurveArithmetic, curveByNumber, scaleBase } from "../../../protocol/proofs/curve.ts";
import {
  dealtShareContext,
  encodeImportMessage,
  encodeImportOutput,
  type ImportMessage,
  isKnowledgeProved,
  knowledgeChallenge,
} from "../../../protocol/proofs/import-message.ts";
import type { DkgMessage } from "../create-dkg-message.ts";
import { proveEncryption } from "../encrypt-share.ts";
import { EngineError } from "../engine.ts";
import { knownNetworkKey } from "../known-network-key.ts";
import { randomScalar } from "../random-scalar.ts";
import { readPrivateKey } from "./private-key.ts";

/**
 * Splits a private key x into the user's share x_A, which the caller gives, and the network's share x_B = x - x_A.
 * Encrypts x_B to the network, proves for one session that this is so and that the user knows x_A, and computes the
 * output of the import. The proofs are random, so two calls return different messages for one key; the output is the
 * same. Takes about a tenth of a second.
 *
 * Both shares and the key are BigInts, whose time depends on them: do not run this where others can measure it to the
 * microsecond. Intermediate numbers cannot be overwritten. Throws EngineError for a malformed key or if the result fails
 * its check, and MalformedBytesError, InvalidFormError or RejectedInput for malformed parameters or a malformed share.
 */
export function* createImportMessage(
  curveName: CurveName,
  parameters: Uint8Array,
  sessionDigest: Uint8Array,
  userSecretKeyShare: Uint8Array,
  privateKey: Uint8Array,
): Steps<DkgMessage> {
  const curve = curveByNumber(curveNumber(curveName));
  if (sessionDigest.length !== 32)
    throw new EngineError("import message: the session digest must have 32 bytes");
  const { encryptionKey } = knownNetworkKey(curve, parameters);
  const share = decodeUserShare(curveName, userSecretKeyShare);
  const secret = readPrivateKey(curveName, privateKey);
  const dealtShare = floorMod(secret - share, curve.order);
  if (dealtShare === 0n) throw new EngineError("import message: the user's share is the whole key");
  const userShare = scaleBase(curve, share);
  const networkShare = scaleBase(curve, dealtShare);
  const knowledge = proveKnowledge(curve, sessionDigest, userShare, share);
  yield;
  const context = dealtShareContext(sessionDigest);
  const dealt = yield* proveEncryption(curve, encryptionKey, dealtShare, context);
  const message: ImportMessage = { knowledge, dealt, userShare, networkShare };
  const isWhole = userShare.add(networkShare).equals(scaleBase(curve, secret));
  if (!isWhole || !isKnowledgeProved(curve, sessionDigest, message))
    throw new EngineError("import message: the result failed its check; nothing was sent");
  return {
    userDkgMessage: encodeImportMessage(curve, message),
    userPublicOutput: encodeImportOutput(curve, message),
  };
}

/** Proves that the user knows x_A: M = m G and z = m + e x_A. */
function proveKnowledge(
  curve: CurveArithmetic,
  sessionDigest: Uint8Array,
  userShare: ImportMessage["userShare"],
  share: bigint,
): ImportMessage["knowledge"] {
  const nonce = randomScalar(curve);
  const mask = scaleBase(curve, nonce);
  const challenge = knowledgeChallenge(curve, sessionDigest, userShare, mask);
  return { mask, response: (nonce + challenge * share) % curve.order };
}
