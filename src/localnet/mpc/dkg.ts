import { concatBytes } from "@noble/hashes/utils.js";
import { bigIntToLittleEndian, encodeVector, equalBytes } from "../../protocol/bytes.ts";
import { scalarToForm } from "../../protocol/class-groups/class-group.ts";
import { composeForms } from "../../protocol/class-groups/forms.ts";
import { floorMod } from "../../protocol/class-groups/integers.ts";
import {
  type CurveArithmetic,
  encodePoint,
  pointBytes,
  readPoint,
  readScalar,
  scalarJson,
  scale,
  scaleBase,
} from "../../protocol/proofs/curve.ts";
import {
  shareProofTranscript,
  shareRandomizers,
  type UserDkgMessage,
} from "../../protocol/proofs/dkg-transcripts.ts";
import { FISCHLIN_REPETITIONS, verifyFischlinHashes } from "../../protocol/proofs/fischlin.ts";
import {
  combineCiphertexts,
  encodeCiphertext,
  openVersion0,
  readUint128,
} from "../../protocol/proofs/message-parts.ts";
import { encodeUserPublicOutput } from "../../protocol/proofs/network-key-parts.ts";
import { rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import type { NetworkDkgInput } from "./engine.ts";
import type { CurveNetworkKey } from "./network-key.ts";
import { checkEncryptedShare, checkPublicShare } from "./share-checks.ts";

/**
 * Runs the network's half of a dWallet's DKG. Verifies that the user knows the discrete logarithm of the public share
 * and encrypted the same share to the registered key or published it, randomises the network's share, and returns the
 * versioned public output of the dWallet. Throws an error with a rejectionReason for invalid input.
 */
export function runDkg(key: CurveNetworkKey, input: NetworkDkgInput): Uint8Array {
  const { curve } = key;
  rejectUnless(input.sessionId.length === 32, "session id is not 32 bytes");
  const message = decodeUserDkgMessage(curve, input.userDkgMessage);
  verifyShareProof(curve, input.sessionId, message);
  const randomizers = shareRandomizers(curve, input.sessionId, key.publicShares, message);
  const [first, second, constant] = randomizers;
  const networkShare = floorMod(first * key.keyShares[0] + second * key.keyShares[1] + constant, curve.order);
  const networkPoint = scaleBase(curve, networkShare);
  const publicKey = message.publicShare.add(networkPoint);
  rejectUnless(!publicKey.equals(curve.zero), "public key is the neutral point");
  const tail = [
    ...randomizers.map((randomizer) => encodeVector(bigIntToLittleEndian(randomizer, 32))),
    encodeVector(key.commitment),
  ];
  rejectUnless(
    equalBytes(input.userPublicOutput, encodeUserPublicOutput(curve, message.publicShare, randomizers, key)),
    "user public output does not follow from the DKG message",
  );
  if ("publicUserShare" in input) checkPublicShare(curve, message.publicShare, input.publicUserShare);
  else checkEncryptedShare(curve, message.publicShare, input);

  const combined = combineCiphertexts(curve, [
    { ciphertext: key.encryptedShares[0], weight: first },
    { ciphertext: key.encryptedShares[1], weight: second },
  ]);
  const shifted = composeForms(curve.group, combined[1], scalarToForm(curve.group, constant));
  const networkCiphertext = encodeCiphertext([combined[0], shifted]);
  const [network, whole, user] = [networkPoint, publicKey, message.publicShare].map((point) =>
    encodePoint(curve, point),
  ) as [Uint8Array, Uint8Array, Uint8Array];
  const output = concatBytes(ONE, network, whole, networkCiphertext, user, ...tail);
  return concatBytes(ONE, encodeVector(pointBytes(publicKey)), encodeVector(output));
}

/** The variant tag of version 2, and of the output inside it. */
const ONE = Uint8Array.of(1);

function verifyShareProof(curve: CurveArithmetic, sessionId: Uint8Array, message: UserDkgMessage): void {
  const proof = shareProofTranscript(curve, sessionId, message.publicShare, message.masks);
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

/** Decodes a versioned user DKG message. Throws RejectedInput if it is malformed. */
function decodeUserDkgMessage(curve: CurveArithmetic, bytes: Uint8Array): UserDkgMessage {
  const reader = openVersion0(bytes, "user DKG message");
  const times = <T>(read: () => T): T[] => Array.from({ length: FISCHLIN_REPETITIONS }, read);
  const message = {
    masks: times(() => readPoint(curve, reader, "DKG proof's mask")),
    responses: times(() => readScalar(curve, reader, "DKG proof's response")),
    challenges: times(() => readUint128(reader)),
    publicShare: readPoint(curve, reader, "user's public key share"),
  };
  reader.end();
  return message;
}
