import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { bigIntFromLittleEndian } from "../bytes.ts";
import type { Ciphertext } from "../parameters/network-key-output.ts";
import { createTranscript } from "../signatures/merlin.ts";
import type { Json } from "./canonical-parameters.ts";
import { type CurveArithmetic, type CurvePoint, pointJson } from "./curve.ts";

/** Opens a transcript with its domain-separating name. */
export function transcript(name: string): Transcript {
  const merlin = createTranscript(name);
  return {
    append: (label, message) => void merlin.append(label, message),
    appendJson: (label, value) => void merlin.append(label, JSON.stringify(value, null, 2)),
    challenge: (label, length) => merlin.challenge(label, length),
    mark: () => merlin.mark(),
  };
}

/** A Merlin transcript as the 2PC-MPC protocol uses it: it absorbs bytes unchanged and everything else as JSON. */
export interface Transcript {
  /** Absorbs bytes under a label. */
  append(label: string, message: Uint8Array): void;
  /** Absorbs a value as JSON, indented by two spaces. */
  appendJson(label: string, value: unknown): void;
  challenge(label: string, length: number): Uint8Array;
  /** Saves the current state. Each call of the returned function restores it. */
  mark(): () => void;
}

/** Returns the 128-bit challenge of a Maurer proof. */
export function proofChallenge(from: Transcript): bigint {
  return bigIntFromLittleEndian(from.challenge("challenge", 16));
}

/** Draws a scalar that is uniform up to 2^-64, by reducing a wider number. */
export function uniformScalar(from: Transcript, label: string, order: bigint): bigint {
  const low = from.challenge(label, 32);
  const high = from.challenge("statistically secure sized challenge used to mask challenge", 8);
  return bigIntFromLittleEndian(concatBytes(low, high)) % order;
}

/** The common context of all proofs of one ECDSA sign message: public parts of the dWallet's output and the presign. */
export interface SignContext {
  readonly curve: CurveArithmetic;
  readonly dwallet: {
    readonly publicKey: CurvePoint;
    readonly userPublicShare: CurvePoint;
    /** mu_0, mu_1 and mu_G, which combine the network key's parts into this dWallet's network share. */
    readonly randomizers: readonly [bigint, bigint, bigint];
  };
  readonly presign: {
    readonly sessionId: Uint8Array;
    /** Encryptions of g, g*x0, g*x1, g*k0 and g*k1, where g is the presign's mask. */
    readonly ciphertexts: readonly Ciphertext[];
    /** k0*G and k1*G. */
    readonly noncePoints: readonly [CurvePoint, CurvePoint];
  };
}

/** One proof's statement: its language, its name and its claim. */
export interface ProofStatement {
  /** The name of the language, which is the transcript's name. */
  readonly language: string;
  /** The proof's name in the protocol's context. */
  readonly name: string;
  readonly parameters: Json;
  readonly statement: Json;
}

/** Returns the transcript of a Maurer proof up to its statement. First messages follow: see {@link appendMasks}. */
export function proofTranscript(context: SignContext, proof: ProofStatement): Transcript {
  const publicKey = JSON.stringify(pointJson(context.curve, context.dwallet.publicKey));
  const hash = transcript(proof.language);
  hash.appendJson("protocol context", {
    party: "CentralizedParty",
    session_id: bytesToHex(context.presign.sessionId),
    protocol_name: "2PC-MPC Sign",
    round_name: "1 - Signature Homomorphic Evaluation",
    proof_name: proof.name,
    public_key: [...new TextEncoder().encode(publicKey)],
  });
  hash.appendJson("language public parameters", proof.parameters);
  hash.appendJson("statement value", proof.statement);
  return hash;
}

/** Absorbs the first messages, each in the shape of the statement. */
export function appendMasks(to: Transcript, masks: readonly Json[]): void {
  for (const mask of masks) to.appendJson("statement mask value", mask);
}
