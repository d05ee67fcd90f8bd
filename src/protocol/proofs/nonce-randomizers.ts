import { bytesToHex } from "@noble/hashes/utils.js";
import { bigIntToLittleEndian } from "../bytes.ts";
import type { Ciphertext } from "../parameters/network-key-output.ts";
import { ciphertextJson, pointGroupJson } from "./canonical-parameters.ts";
import { type CurvePoint, pointJson, scalarJson } from "./curve.ts";
import { RANDOMIZER_TRANSCRIPT } from "./dkg-transcripts.ts";
import type { EcdsaSignMessage, PointProof } from "./ecdsa-message.ts";
import { openingJson } from "./ecdsa-point-proofs.ts";
import { pedersenJson } from "./pedersen.ts";
import type { SignContext } from "./sign-context.ts";
import { transcript, uniformScalar } from "./transcript.ts";

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
export type NonceCommitments = Pick<
  EcdsaSignMessage,
  "commitK" | "commitAlpha" | "commitBeta" | "commitKx" | "proofK" | "proofAlpha" | "proofBeta"
>;
