import { type ByteReader, bigIntFromLittleEndian, bigIntToLittleEndian, encodeVector } from "../bytes.ts";
import type { Ciphertext } from "../parameters/network-key-output.ts";
import {
  type CurveArithmetic,
  type CurvePoint,
  encodePoint,
  encodeScalar,
  readPoint,
  readScalar,
} from "./curve.ts";
import { FISCHLIN_REPETITIONS } from "./fischlin.ts";
import {
  encodeCiphertext,
  encodeVersion0,
  openVersion0,
  readCiphertext,
  readRandomnessResponse,
  readUint128,
} from "./message-parts.ts";
import { rejectUnless } from "./rejected-input.ts";

/** A Maurer proof over the curve: the first messages are points, the responses are scalars. */
export interface PointProof {
  readonly masks: readonly CurvePoint[];
  readonly responses: readonly bigint[];
}

/** A Fischlin proof over the curve: one mask, one pair of responses and one challenge per repetition. */
export interface RepeatedProof {
  readonly masks: readonly CurvePoint[];
  readonly responses: readonly (readonly [bigint, bigint])[];
  readonly challenges: readonly bigint[];
}

/** A proof that a ciphertext is a committed linear combination of two others. */
export interface LinearEvaluationProof {
  readonly maskCiphertext: Ciphertext;
  readonly maskCommitments: readonly [CurvePoint, CurvePoint];
  readonly coefficientResponses: readonly [bigint, bigint];
  readonly commitmentResponses: readonly [bigint, bigint];
  /**
   * The response for the plaintext's mask. The mask is a multiple of q and changes no ciphertext: no equation uses it.
   */
  readonly plaintextMaskResponse: bigint;
  readonly randomnessResponse: bigint;
}

/** The user's half of an ECDSA signature, with its eight proofs. */
export interface EcdsaSignMessage {
  /** R, whose x coordinate is the signature's r. */
  readonly nonce: CurvePoint;
  /** R_B = k*R, the network's nonce after the user's displacement. */
  readonly displacedNonce: CurvePoint;
  /** Commitments: to k, alpha and beta with base G, and to k with base X_A. */
  readonly commitK: CurvePoint;
  readonly commitAlpha: CurvePoint;
  readonly commitBeta: CurvePoint;
  readonly commitKx: CurvePoint;
  /** ct_A, the encrypted partial signature, and ct_ab, the encrypted displaced nonce, both masked by the presign. */
  readonly partialSignature: Ciphertext;
  readonly displacedNonceShare: Ciphertext;
  readonly proofK: PointProof;
  readonly proofAlpha: PointProof;
  readonly proofBeta: RepeatedProof;
  readonly proofKx: PointProof;
  readonly proofNonce: PointProof;
  readonly proofDisplacedNonce: PointProof;
  readonly proofPartialSignature: LinearEvaluationProof;
  readonly proofDisplacedNonceShare: LinearEvaluationProof;
}

/** Decodes a versioned ECDSA sign message (7144 bytes). Throws RejectedInput if it is malformed. */
export function decodeEcdsaSignMessage(curve: CurveArithmetic, bytes: Uint8Array): EcdsaSignMessage {
  const reader = openVersion0(bytes, "user sign message");
  const point = () => readPoint(curve, reader, "point of the user sign message");
  const message = {
    nonce: point(),
    displacedNonce: point(),
    commitK: point(),
    commitAlpha: point(),
    commitBeta: point(),
    commitKx: point(),
    partialSignature: readCiphertext(curve, reader),
    displacedNonceShare: readCiphertext(curve, reader),
    proofK: readPointProof(curve, reader, 1, 2),
    proofAlpha: readPointProof(curve, reader, 1, 2),
    proofBeta: readRepeatedProof(curve, reader),
    proofKx: readPointProof(curve, reader, 2, 3),
    proofNonce: readPointProof(curve, reader, 2, 2),
    proofDisplacedNonce: readPointProof(curve, reader, 3, 4),
    proofPartialSignature: readLinearEvaluationProof(curve, reader),
    proofDisplacedNonceShare: readLinearEvaluationProof(curve, reader),
  };
  reader.end();
  return message;
}

/** Encodes a message for {@link decodeEcdsaSignMessage}. */
export function encodeEcdsaSignMessage(curve: CurveArithmetic, message: EcdsaSignMessage): Uint8Array {
  const points = (all: readonly CurvePoint[]) => all.map((point) => encodePoint(curve, point));
  const scalars = (all: readonly bigint[]) => all.map((scalar) => encodeScalar(curve, scalar));
  const pointProof = ({ masks, responses }: PointProof) => [...points(masks), ...scalars(responses)];
  const evaluationProof = (proof: LinearEvaluationProof) => [
    encodeCiphertext(proof.maskCiphertext),
    ...points(proof.maskCommitments),
    ...proof.coefficientResponses.map((response) => encodeInteger(response, COEFFICIENT_BYTES)),
    ...scalars([...proof.commitmentResponses, proof.plaintextMaskResponse]),
    encodeInteger(proof.randomnessResponse, RANDOMNESS_BYTES),
  ];
  const { nonce, displacedNonce, commitK, commitAlpha, commitBeta, commitKx, proofBeta } = message;
  return encodeVersion0(
    ...points([nonce, displacedNonce, commitK, commitAlpha, commitBeta, commitKx]),
    encodeCiphertext(message.partialSignature),
    encodeCiphertext(message.displacedNonceShare),
    ...pointProof(message.proofK),
    ...pointProof(message.proofAlpha),
    ...points(proofBeta.masks),
    ...scalars(proofBeta.responses.flat()),
    ...proofBeta.challenges.map((challenge) => encodeInteger(challenge, CHALLENGE_BYTES)),
    ...pointProof(message.proofKx),
    ...pointProof(message.proofNonce),
    ...pointProof(message.proofDisplacedNonce),
    ...evaluationProof(message.proofPartialSignature),
    ...evaluationProof(message.proofDisplacedNonceShare),
  );
}

const COEFFICIENT_BYTES = 384;
const RANDOMNESS_BYTES = 192;
const CHALLENGE_BYTES = 16;

function encodeInteger(value: bigint, length: number): Uint8Array {
  return encodeVector(bigIntToLittleEndian(value, length));
}

function times<T>(count: number, read: () => T): T[] {
  return Array.from({ length: count }, read);
}

function readPointProof(
  curve: CurveArithmetic,
  reader: ByteReader,
  masks: number,
  responses: number,
): PointProof {
  return {
    masks: times(masks, () => readPoint(curve, reader, "proof's mask")),
    responses: times(responses, () => readScalar(curve, reader, "proof's response")),
  };
}

function readRepeatedProof(curve: CurveArithmetic, reader: ByteReader): RepeatedProof {
  const response = () => readScalar(curve, reader, "proof's response");
  return {
    masks: times(FISCHLIN_REPETITIONS, () => readPoint(curve, reader, "proof's mask")),
    responses: times(FISCHLIN_REPETITIONS, () => [response(), response()] as const),
    challenges: times(FISCHLIN_REPETITIONS, () => readUint128(reader)),
  };
}

function readLinearEvaluationProof(curve: CurveArithmetic, reader: ByteReader): LinearEvaluationProof {
  const point = () => readPoint(curve, reader, "proof's mask");
  const scalar = () => readScalar(curve, reader, "proof's response");
  const maskCiphertext = readCiphertext(curve, reader);
  const maskCommitments = [point(), point()] as const;
  const coefficientResponses = [readCoefficientResponse(reader), readCoefficientResponse(reader)] as const;
  const commitmentResponses = [scalar(), scalar()] as const;
  const plaintextMaskResponse = scalar();
  const randomnessResponse = readRandomnessResponse(reader);
  return {
    maskCiphertext,
    maskCommitments,
    coefficientResponses,
    commitmentResponses,
    plaintextMaskResponse,
    randomnessResponse,
  };
}

/**
 * Reads the response for a coefficient, blinded by a multiple of q: 48 words, below the protocol's bound of 1535 bits.
 */
function readCoefficientResponse(reader: ByteReader): bigint {
  const response = bigIntFromLittleEndian(reader.vector(COEFFICIENT_BYTES));
  rejectUnless(
    response >> BigInt(COEFFICIENT_SPACE.upper_bound_bits) === 0n,
    "coefficient response exceeds 1535 bits",
  );
  return response;
}

/** The bounds of the blinded coefficients, as in the language of the proofs. */
export const COEFFICIENT_SPACE = { order_bits: 3072, sample_bits: 1006, upper_bound_bits: 1535 } as const;
