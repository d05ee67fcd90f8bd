import { bytesToHex } from "@noble/hashes/utils.js";
import { bigIntToLittleEndian } from "../bytes.ts";
import type { Ciphertext } from "../parameters/network-key-output.ts";
import {
  ciphertextJson,
  languageGroupsJson,
  pointGroupJson,
  scalarGroupJson,
} from "./canonical-parameters.ts";
import { type CurveArithmetic, type CurvePoint, pointJson, scalarJson } from "./curve.ts";
import type { EcdsaSignMessage, PointProof } from "./ecdsa-message.ts";
import { openingJson } from "./ecdsa-point-proofs.ts";
import { pedersenJson } from "./pedersen.ts";
import { type SignContext, type Transcript, transcript, uniformScalar } from "./transcript.ts";

/** The user's DKG message: the public share X_A and the Fischlin proof that the user knows its logarithm. */
export interface UserDkgMessage {
  readonly masks: readonly CurvePoint[];
  readonly responses: readonly bigint[];
  readonly challenges: readonly bigint[];
  readonly publicShare: CurvePoint;
}

/** mu_0, mu_1 and mu_G: the network's share of a dWallet is mu_0 x_0 + mu_1 x_1 + mu_G. */
export type ShareRandomizers = readonly [bigint, bigint, bigint];

/** Returns the transcript of the user's proof, up to the first messages. `sessionDigest`: 32 bytes. */
export function shareProofTranscript(
  curve: CurveArithmetic,
  sessionDigest: Uint8Array,
  publicShare: CurvePoint,
  masks: readonly CurvePoint[],
): Transcript {
  const context: ProofContext = {
    party: "CentralizedParty",
    session_id: bytesToHex(sessionDigest),
    protocol_name: "2PC-MPC DKG",
    round_name: "2 - Sample and Prove Centralized Public Key Share",
    proof_name: "$\\pi_{\\sf{DL}}$ - Knowledge of Centralized Party Secret Key Share UC Proof",
    public_key: null,
  };
  const proof = discreteLogTranscript(curve, context, publicShare);
  for (const mask of masks) proof.appendJson("statement mask value", pointJson(curve, mask));
  return proof;
}

/** The place of a proof in the protocol, as transcripts absorb it. */
export interface ProofContext {
  readonly party: "CentralizedParty";
  /** 32 bytes in hex. */
  readonly session_id: string;
  readonly protocol_name: string;
  readonly round_name: string;
  readonly proof_name: string;
  readonly public_key: null;
}

/** Returns the transcript of a proof that the user knows the discrete logarithm of a point, up to its first messages. */
export function discreteLogTranscript(
  curve: CurveArithmetic,
  context: ProofContext,
  publicShare: CurvePoint,
): Transcript {
  const proof = transcript("Schnorr's Knowledge of the Discrete Log");
  proof.appendJson("protocol context", context);
  proof.appendJson("language public parameters", {
    canonical_groups_public_parameters: languageGroupsJson(scalarGroupJson(curve), pointGroupJson(curve)),
    base: pointJson(curve, curve.base),
    discrete_log_sample_bits: null,
  });
  proof.appendJson("statement value", pointJson(curve, publicShare));
  return proof;
}

/**
 * Draws the randomisers. Both sides derive them from the user's message, so neither chooses the network's share alone.
 */
export function shareRandomizers(
  curve: CurveArithmetic,
  sessionDigest: Uint8Array,
  networkShares: readonly [CurvePoint, CurvePoint],
  message: UserDkgMessage,
): ShareRandomizers {
  const json = (point: CurvePoint) => pointJson(curve, point);
  const hash = transcript(RANDOMIZER_TRANSCRIPT);
  hash.append("$ sid $", sessionDigest);
  hash.appendJson("$ \\GG,G,q $", pointGroupJson(curve));
  hash.appendJson("$X_{\\CentralizedParty}$", json(message.publicShare));
  hash.appendJson("$X_{\\DistributedParty}^{0}$", json(networkShares[0]));
  hash.appendJson("$X_{\\DistributedParty}^{1}$", json(networkShares[1]));
  hash.appendJson("$\\pi_{\\sf{DL}}$", {
    maurer_proof: {
      statement_masks: message.masks.map(json),
      responses: message.responses.map((response) => scalarJson(curve, response)),
      _protocol_context_choice: null,
    },
    challenges: message.challenges.map((challenge) => bytesToHex(bigIntToLittleEndian(challenge, 16))),
  });
  const draw = (label: string) => uniformScalar(hash, label, curve.order);
  return [draw("$\\mu_{x}^{0}$"), draw("$\\mu_{x}^{1}$"), draw("$\\mu_{x}^{G}$")];
}

/** The transcript name under which the protocol derives every randomiser, in the DKG and in signing. */
export const RANDOMIZER_TRANSCRIPT =
  "DKG randomize decentralized party public key share and encryption of secret key share";

/**
 * Returns the three weights that turn the presign's nonce shares and G into the network's nonce for this message. Both
 * sides derive them from all values fixed before. `digest` is the message's hash modulo the order. `maskedKeyShare` is
 * the presign's encryption of g times the dWallet's network share.
 */
export function nonceRandomizers(
  { curve, dwallet, presign }: SignContext,
  message: NonceCommitments,
  digest: bigint,
  maskedKeyShare: Ciphertext,
): readonly [bigint, bigint, bigint] {
  const point = (of: CurvePoint) => pointJson(curve, of);
  const scalar = (of: bigint) => scalarJson(curve, of);
  const decommitment = ({ masks, responses }: PointProof) => ({
    statement_masks: masks.map(point),
    responses: [openingJson(curve, responses as readonly [bigint, bigint])],
    _protocol_context_choice: null,
  });
  const [mask, , , firstNonce, secondNonce] = presign.ciphertexts as [
    Ciphertext,
    Ciphertext,
    Ciphertext,
    Ciphertext,
    Ciphertext,
  ];
  const hash = transcript(RANDOMIZER_TRANSCRIPT);
  hash.append("$ sid $", presign.sessionId);
  hash.appendJson("$ msg $", scalar(digest));
  hash.appendJson("$ \\GG,G,q $", pointGroupJson(curve));
  hash.appendJson("$ G, H $", pedersenJson(curve, curve.base));
  hash.appendJson("$X$", point(dwallet.publicKey));
  hash.appendJson("$X_{\\CentralizedParty}$ $", point(dwallet.userPublicShare));
  hash.appendJson("$\\pres_{X,\\sid}", {
    session_id: bytesToHex(presign.sessionId),
    encryption_of_mask: ciphertextJson(mask),
    encryption_of_masked_decentralized_party_key_share: ciphertextJson(maskedKeyShare),
    encryption_of_masked_decentralized_party_nonce_share_first_part: ciphertextJson(firstNonce),
    encryption_of_masked_decentralized_party_nonce_share_second_part: ciphertextJson(secondNonce),
    decentralized_party_nonce_public_share_first_part: point(presign.noncePoints[0]),
    decentralized_party_nonce_public_share_second_part: point(presign.noncePoints[1]),
    public_key: point(dwallet.publicKey),
  });
  hash.appendJson("$C_{k}$", point(message.commitK));
  hash.appendJson("$C_{\\alpha}$", point(message.commitAlpha));
  hash.appendJson("$C_{\\beta}$", point(message.commitBeta));
  hash.appendJson("$C_{kx}$", point(message.commitKx));
  hash.appendJson("$\\pi_k$", decommitment(message.proofK));
  hash.appendJson("$\\pi_{\\alpha}$", decommitment(message.proofAlpha));
  hash.appendJson("$\\pi_{\\beta}$", {
    maurer_proof: {
      statement_masks: message.proofBeta.masks.map(point),
      responses: message.proofBeta.responses.map((response) => openingJson(curve, response)),
      _protocol_context_choice: null,
    },
    challenges: message.proofBeta.challenges.map((challenge) =>
      bytesToHex(bigIntToLittleEndian(challenge, 16)),
    ),
  });
  const draw = (label: string) => uniformScalar(hash, label, curve.order);
  return [draw("$\\mu_{k}^{0}$"), draw("$\\mu_{k}^{1}$"), draw("$\\mu_{k}^{G}$")];
}

/** The commitments, and the proofs that they open, from which the randomisers of the network's nonce are derived. */
type NonceCommitments = Pick<
  EcdsaSignMessage,
  "commitK" | "commitAlpha" | "commitBeta" | "commitKx" | "proofK" | "proofAlpha" | "proofBeta"
>;
