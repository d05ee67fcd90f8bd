import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { encodeVector, equalBytes } from "../../protocol/bytes.ts";
import {
  type CurveArithmetic,
  type CurvePoint,
  encodePoint,
  pointBytes,
  pointJson,
  readPoint,
  readScalar,
  scale,
  scaleBase,
} from "../../protocol/proofs/curve.ts";
import { discreteLogTranscript, type ProofContext } from "../../protocol/proofs/dkg-transcripts.ts";
import {
  type EncryptedShareAndProof,
  readEncryptedShare,
  verifyEncryptedShare,
} from "../../protocol/proofs/encrypted-share.ts";
import { encodeCiphertext, openVersion0 } from "../../protocol/proofs/message-parts.ts";
import { rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import { appendMasks, proofChallenge } from "../../protocol/proofs/transcript.ts";
import type { NetworkImportInput } from "./engine.ts";
import type { CurveNetworkKey } from "./network-key.ts";
import { checkEncryptedShare } from "./share-checks.ts";

/**
 * Accepts a user's own key, which the user has split: x = x_A + x_B. Verifies that the user knows x_A, that x_B is
 * encrypted to the network and is the discrete logarithm of X_B, and that x_A is encrypted to the registered key.
 * Returns the versioned public output of the dWallet. Throws an error with a rejectionReason for invalid input.
 */
export function importKey(key: CurveNetworkKey, input: NetworkImportInput): Uint8Array {
  const { curve } = key;
  rejectUnless(input.sessionId.length === 32, "session id is not 32 bytes");
  const { knowledge, dealt, userShare, networkShare } = decodeImportMessage(curve, input.userMessage);
  const context = (proof: string): ProofContext => dealContext(input.sessionId, proof);
  verifyKnowledge(curve, context(KNOWLEDGE_PROOF), userShare, knowledge);
  verifyEncryptedShare(curve, key.encryptionKey, networkShare, dealt, context(DEALT_SHARE_PROOF));
  const publicKey = userShare.add(networkShare);
  rejectUnless(!publicKey.equals(curve.zero), "public key is the neutral point");
  const [user, whole, network] = [userShare, publicKey, networkShare].map((point) =>
    encodePoint(curve, point),
  ) as [Uint8Array, Uint8Array, Uint8Array];
  const userPublicOutput = concatBytes(ONE, encodeVector(concatBytes(TARGETED, user, whole, network)));
  rejectUnless(
    equalBytes(input.userPublicOutput, userPublicOutput),
    "user public output does not follow from the message",
  );
  checkEncryptedShare(curve, userShare, input);
  const output = concatBytes(TARGETED, network, whole, encodeCiphertext(dealt.ciphertext), user);
  return concatBytes(ONE, encodeVector(pointBytes(publicKey)), encodeVector(output));
}

/** The variant tag of version 2. */
const ONE = Uint8Array.of(1);
/** The variant tag of an output whose network share is encrypted by itself, not derived from the network key. */
const TARGETED = Uint8Array.of(0);

/** The user's message of a key import. */
interface ImportMessage {
  readonly knowledge: { readonly mask: CurvePoint; readonly response: bigint };
  /** x_B under the network's key, with its proof. */
  readonly dealt: EncryptedShareAndProof;
  /** X_A */
  readonly userShare: CurvePoint;
  /** X_B */
  readonly networkShare: CurvePoint;
}

/** Decodes 00 | vec(mask | response | encrypted share with its proof | X_A | X_B). Throws RejectedInput. */
function decodeImportMessage(curve: CurveArithmetic, bytes: Uint8Array): ImportMessage {
  const reader = openVersion0(bytes, "imported key message");
  const message = {
    knowledge: {
      mask: readPoint(curve, reader, "imported key proof's mask"),
      response: readScalar(curve, reader, "imported key proof's response"),
    },
    dealt: readEncryptedShare(curve, reader),
    userShare: readPoint(curve, reader, "user's public key share"),
    networkShare: readPoint(curve, reader, "network's public key share"),
  };
  reader.end();
  return message;
}

function verifyKnowledge(
  curve: CurveArithmetic,
  context: ProofContext,
  publicShare: CurvePoint,
  { mask, response }: ImportMessage["knowledge"],
): void {
  const proof = discreteLogTranscript(curve, context, publicShare);
  appendMasks(proof, [pointJson(curve, mask)]);
  const expected = mask.add(scale(curve, publicShare, proofChallenge(proof)));
  rejectUnless(
    scaleBase(curve, response).equals(expected),
    "imported key: the share's knowledge is not proved",
  );
}

function dealContext(sessionId: Uint8Array, proofName: string): ProofContext {
  return {
    party: "CentralizedParty",
    session_id: bytesToHex(sessionId),
    protocol_name: "2PC-MPC Trusted Dealer DKG",
    round_name: "1 - Deal Trusted Shares",
    proof_name: proofName,
    public_key: null,
  };
}

const KNOWLEDGE_PROOF =
  "$\\Pi_{\\textsf{zk}}^{L_{\\sf{DL}}[(\\mathbb{G}, G,q)]}(x\\cdot G;x)$ - Knowledge of Secret Key Share Proof";
/** The protocol's own name contains a tab where TeX has `\t`. */
const DEALT_SHARE_PROOF =
  "$\\Pi_{\\textsf{zk}}^{L_{\\sf EncDL}[\textsf{pk}, (\\mathbb{G}, G, q)]}$ - " +
  "Encryption of Dealt Decentralized Party Secret Key Share and Public Key Share Proof";
