import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { bigIntToLittleEndian, encodeVector } from "../bytes.ts";
import {
  type CurveArithmetic,
  type CurvePoint,
  encodePoint,
  encodeScalar,
  pointJson,
  readPoint,
  readScalar,
  scale,
  scaleBase,
} from "./curve.ts";
import { discreteLogTranscript, type ProofContext } from "./dkg-transcripts.ts";
import { type EncryptedShareAndProof, readEncryptedShare } from "./encrypted-share.ts";
import { encodeCiphertext, encodeVersion0, openVersion0 } from "./message-parts.ts";
import { appendMasks, proofChallenge } from "./transcript.ts";

/**
 * The user's message that imports a key x, which the user has split: x = x_A + x_B. The user keeps x_A, and deals x_B to
 * the network.
 */
export interface ImportMessage {
  /** Schnorr's proof that the user knows x_A. */
  readonly knowledge: KnowledgeProof;
  /** x_B under the network's key, with its proof. */
  readonly dealt: EncryptedShareAndProof;
  /** X_A = x_A G */
  readonly userShare: CurvePoint;
  /** X_B = x_B G */
  readonly networkShare: CurvePoint;
}

export interface KnowledgeProof {
  readonly mask: CurvePoint;
  readonly response: bigint;
}

/** Decodes 00 | vec(mask | response | encrypted share with its proof | X_A | X_B). Throws RejectedInput. */
export function decodeImportMessage(curve: CurveArithmetic, bytes: Uint8Array): ImportMessage {
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

/** Encodes a message for {@link decodeImportMessage}: 1,431 bytes on the secp curves, else 1,421. */
export function encodeImportMessage(curve: CurveArithmetic, message: ImportMessage): Uint8Array {
  const { knowledge, dealt, userShare, networkShare } = message;
  return encodeVersion0(
    encodePoint(curve, knowledge.mask),
    encodeScalar(curve, knowledge.response),
    encodeCiphertext(dealt.maskCiphertext),
    encodePoint(curve, dealt.maskPoint),
    encodeScalar(curve, dealt.scalarResponse),
    encodeVector(bigIntToLittleEndian(dealt.randomnessResponse, 192)),
    encodeCiphertext(dealt.ciphertext),
    encodePoint(curve, userShare),
    encodePoint(curve, networkShare),
  );
}

/**
 * Encodes the user's public output of an import, version 2: 01 | vec(00 | X_A | X | X_B), 105 bytes on the secp curves
 * and 99 on the others.
 */
export function encodeImportOutput(
  curve: CurveArithmetic,
  { userShare, networkShare }: Pick<ImportMessage, "userShare" | "networkShare">,
): Uint8Array {
  const points = [userShare, userShare.add(networkShare), networkShare];
  const body = concatBytes(TARGETED, ...points.map((point) => encodePoint(curve, point)));
  return concatBytes(VERSION_2, encodeVector(body));
}

/** The variant tag of version 2. */
const VERSION_2 = Uint8Array.of(1);
/** The variant tag of an output whose network share is encrypted by itself, not derived from the network key. */
const TARGETED = Uint8Array.of(0);

/** Returns the challenge of the proof that the user knows x_A, after its first message. `sessionDigest`: 32 bytes. */
export function knowledgeChallenge(
  curve: CurveArithmetic,
  sessionDigest: Uint8Array,
  userShare: CurvePoint,
  mask: CurvePoint,
): bigint {
  const proof = discreteLogTranscript(curve, dealContext(sessionDigest, KNOWLEDGE_PROOF), userShare);
  appendMasks(proof, [pointJson(curve, mask)]);
  return proofChallenge(proof);
}

/** Returns whether the user knows x_A: z G = M + e X_A. */
export function isKnowledgeProved(
  curve: CurveArithmetic,
  sessionDigest: Uint8Array,
  { userShare, knowledge: { mask, response } }: Pick<ImportMessage, "userShare" | "knowledge">,
): boolean {
  const challenge = knowledgeChallenge(curve, sessionDigest, userShare, mask);
  return scaleBase(curve, response).equals(mask.add(scale(curve, userShare, challenge)));
}

/** Returns the context of the proof that x_B is encrypted to the network. `sessionDigest`: 32 bytes. */
export function dealtShareContext(sessionDigest: Uint8Array): ProofContext {
  return dealContext(sessionDigest, DEALT_SHARE_PROOF);
}

function dealContext(sessionDigest: Uint8Array, proofName: string): ProofContext {
  return {
    party: "CentralizedParty",
    session_id: bytesToHex(sessionDigest),
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
