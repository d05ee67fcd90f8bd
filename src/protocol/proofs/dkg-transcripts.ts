import { bytesToHex } from "@noble/hashes/utils.js";
import { bigIntToLittleEndian } from "../bytes.ts";
import { languageGroupsJson, pointGroupJson, scalarGroupJson } from "./canonical-parameters.ts";
import { type CurveArithmetic, type CurvePoint, pointJson, scalarJson } from "./curve.ts";
import { type Transcript, transcript, uniformScalar } from "./transcript.ts";

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
  const proof = transcript("Schnorr's Knowledge of the Discrete Log");
  proof.appendJson("protocol context", {
    party: "CentralizedParty",
    session_id: bytesToHex(sessionDigest),
    protocol_name: "2PC-MPC DKG",
    round_name: "2 - Sample and Prove Centralized Public Key Share",
    proof_name: "$\\pi_{\\sf{DL}}$ - Knowledge of Centralized Party Secret Key Share UC Proof",
    public_key: null,
  });
  proof.appendJson("language public parameters", {
    canonical_groups_public_parameters: languageGroupsJson(scalarGroupJson(curve), pointGroupJson(curve)),
    base: pointJson(curve, curve.base),
    discrete_log_sample_bits: null,
  });
  proof.appendJson("statement value", pointJson(curve, publicShare));
  for (const mask of masks) proof.appendJson("statement mask value", pointJson(curve, mask));
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
