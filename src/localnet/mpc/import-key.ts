import { concatBytes } from "@noble/hashes/utils.js";
import { encodeVector, equalBytes } from "../../protocol/bytes.ts";
import { encodePoint, pointBytes } from "../../protocol/proofs/curve.ts";
import { verifyEncryptedShare } from "../../protocol/proofs/encrypted-share.ts";
import {
  dealtShareContext,
  decodeImportMessage,
  encodeImportOutput,
  isKnowledgeProved,
} from "../../protocol/proofs/import-message.ts";
import { encodeCiphertext } from "../../protocol/proofs/message-parts.ts";
import { rejectUnless } from "../../protocol/proofs/rejected-input.ts";
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
  const { sessionId } = input;
  rejectUnless(sessionId.length === 32, "session id is not 32 bytes");
  const message = decodeImportMessage(curve, input.userMessage);
  const { dealt, userShare, networkShare } = message;
  rejectUnless(
    isKnowledgeProved(curve, sessionId, message),
    "imported key: the share's knowledge is not proved",
  );
  verifyEncryptedShare(curve, key.encryptionKey, networkShare, dealt, dealtShareContext(sessionId));
  const publicKey = userShare.add(networkShare);
  rejectUnless(!publicKey.equals(curve.zero), "public key is the neutral point");
  rejectUnless(
    equalBytes(input.userPublicOutput, encodeImportOutput(curve, message)),
    "user public output does not follow from the message",
  );
  checkEncryptedShare(curve, userShare, input);
  const [user, whole, network] = [userShare, publicKey, networkShare].map((point) =>
    encodePoint(curve, point),
  ) as [Uint8Array, Uint8Array, Uint8Array];
  const output = concatBytes(TARGETED, network, whole, encodeCiphertext(dealt.ciphertext), user);
  return concatBytes(VERSION_2, encodeVector(pointBytes(publicKey)), encodeVector(output));
}

/** The variant tag of version 2. */
const VERSION_2 = Uint8Array.of(1);
/** The variant tag of an output whose network share is encrypted by itself, not derived from the network key. */
const TARGETED = Uint8Array.of(0);
