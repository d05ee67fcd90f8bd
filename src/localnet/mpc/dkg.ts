import {
  bigIntToLittleEndian,
  bytesToHex,
  concatBytes,
  encodeVector,
  equalBytes,
} from "../../protocol/bytes.ts";
import { encodeScalar } from "../../protocol/class-groups/class-group.ts";
import { composeForms } from "../../protocol/class-groups/forms.ts";
import { floorMod } from "../../protocol/class-groups/integers.ts";
import { languageGroupsJson, pointGroupJson, scalarGroupJson } from "./canonical-parameters.ts";
import { combineCiphertexts, encodeCiphertext } from "./ciphertext.ts";
import {
  type Curve,
  type CurvePoint,
  encodePoint,
  pointBytes,
  pointJson,
  scalarJson,
  scale,
  scaleBase,
} from "./curve.ts";
import { decodeUserDkgMessage, type UserDkgMessage } from "./dkg-message.ts";
import { verifyEncryptedShare } from "./encrypted-share.ts";
import type { NetworkDkgInput } from "./engine.ts";
import { verifyFischlinHashes } from "./fischlin.ts";
import type { NetworkKey } from "./network-key.ts";
import { rejectUnless } from "./rejected-input.ts";
import { transcript, uniformScalar } from "./transcript.ts";

/**
 * The network's side of a dWallet's DKG: checks that the user knows the logarithm of the public share and encrypted
 * that very share to the registered key, randomises the network's share, and makes the versioned dWallet public
 * output. Throws a verdict (see rejectionReason) on bad input.
 */
export function runDkg(key: NetworkKey, input: NetworkDkgInput): Uint8Array {
  const { curve } = key;
  rejectUnless(input.sessionId.length === 32, "session id is not 32 bytes");
  const message = decodeUserDkgMessage(curve, input.userDkgMessage);
  verifyShareProof(curve, input.sessionId, message);
  const randomizers = shareRandomizers(key, input.sessionId, message);
  const [first, second, constant] = randomizers;
  const networkShare = floorMod(first * key.keyShares[0] + second * key.keyShares[1] + constant, curve.order);
  const networkPoint = scaleBase(curve, networkShare);
  const publicKey = message.publicShare.add(networkPoint);
  rejectUnless(!publicKey.equals(curve.zero), "public key is the neutral point");
  const tail = [
    ...randomizers.map((randomizer) => encodeVector(bigIntToLittleEndian(randomizer, 32))),
    encodeVector(key.commitment),
  ];
  const points = { user: encodePoint(curve, message.publicShare), all: encodePoint(curve, publicKey) };
  const network = encodePoint(curve, networkPoint);
  const expected = versioned1(concatBytes(ONE, points.user, points.all, network, ...tail));
  rejectUnless(
    equalBytes(input.userPublicOutput, expected),
    "user public output does not follow from the DKG message",
  );
  verifyEncryptedShare(curve, input.encryptionKey, message.publicShare, input.encryptedShareAndProof);

  const combined = combineCiphertexts(curve, [
    { ciphertext: key.encryptedShares[0], weight: first },
    { ciphertext: key.encryptedShares[1], weight: second },
  ]);
  const shifted = composeForms(curve.group, combined[1], encodeScalar(curve.group, constant));
  const encryptedShare = encodeCiphertext([combined[0], shifted]);
  const output = concatBytes(ONE, network, points.all, encryptedShare, points.user, ...tail);
  return concatBytes(ONE, encodeVector(pointBytes(publicKey)), encodeVector(output));
}

/** Variant tags of the second version, and of the output inside it. */
const ONE = Uint8Array.of(1);

function versioned1(body: Uint8Array): Uint8Array {
  return concatBytes(ONE, encodeVector(body));
}

function verifyShareProof(curve: Curve, sessionId: Uint8Array, message: UserDkgMessage): void {
  const proof = transcript("Schnorr's Knowledge of the Discrete Log");
  proof.appendJson("protocol context", {
    party: "CentralizedParty",
    session_id: bytesToHex(sessionId),
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
  proof.appendJson("statement value", pointJson(curve, message.publicShare));
  for (const mask of message.masks) proof.appendJson("statement mask value", pointJson(curve, mask));
  const repetitions = message.masks.map((mask, index) => ({
    mask,
    challenge: message.challenges[index]!,
    response: message.responses[index]!,
    responseJson: scalarJson(curve, message.responses[index]!),
  }));
  verifyFischlinHashes(proof, repetitions, "DKG proof");
  for (const { mask, challenge, response } of repetitions) {
    const expected = mask.add(scale(curve, message.publicShare, challenge));
    rejectUnless(scaleBase(curve, response).equals(expected), "DKG proof: equation does not hold");
  }
}

/** Both sides draw these from the transcript, so that neither chose the network's share alone. */
function shareRandomizers(
  key: NetworkKey,
  sessionId: Uint8Array,
  message: UserDkgMessage,
): readonly [bigint, bigint, bigint] {
  const { curve } = key;
  const json = (point: CurvePoint) => pointJson(curve, point);
  const hash = transcript(RANDOMIZER_TRANSCRIPT);
  hash.append("$ sid $", sessionId);
  hash.appendJson("$ \\GG,G,q $", pointGroupJson(curve));
  hash.appendJson("$X_{\\CentralizedParty}$", json(message.publicShare));
  hash.appendJson("$X_{\\DistributedParty}^{0}$", json(key.publicShares[0]));
  hash.appendJson("$X_{\\DistributedParty}^{1}$", json(key.publicShares[1]));
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

/** The name under which the protocol derives every randomiser, in DKG and in signing alike. */
export const RANDOMIZER_TRANSCRIPT =
  "DKG randomize decentralized party public key share and encryption of secret key share";
