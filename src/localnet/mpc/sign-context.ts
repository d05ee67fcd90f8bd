import { bytesToHex } from "../../protocol/bytes.ts";
import type { Json } from "../../protocol/proofs/canonical-parameters.ts";
import { type Curve, pointJson } from "../../protocol/proofs/curve.ts";
import { type Transcript, transcript } from "../../protocol/proofs/transcript.ts";
import type { DWalletShares } from "./dwallet-output.ts";
import type { Presign } from "./presign.ts";

/** What every proof of one ECDSA sign message is about. */
export interface SignContext {
  readonly curve: Curve;
  readonly dwallet: DWalletShares;
  readonly presign: Presign;
}

/** One proof's statement: which language it is in, under which name, and what it claims. */
export interface ProofStatement {
  /** The transcript's name: the language's. */
  readonly language: string;
  /** The proof's name in the protocol's context. */
  readonly name: string;
  readonly parameters: Json;
  readonly statement: Json;
  readonly masks: readonly Json[];
}

/** The transcript of a Maurer proof, ready to be asked for its challenge. */
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
  for (const mask of proof.masks) hash.appendJson("statement mask value", mask);
  return hash;
}
