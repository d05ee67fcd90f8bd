import { type CurveArithmetic, readPoint, readScalar } from "../../protocol/proofs/curve.ts";
import type { UserDkgMessage } from "../../protocol/proofs/dkg-transcripts.ts";
import { FISCHLIN_REPETITIONS } from "../../protocol/proofs/fischlin.ts";
import { openVersion0, readUint128 } from "../../protocol/proofs/message-parts.ts";

/** Decodes a versioned user DKG message. Throws RejectedInput if it is malformed. */
export function decodeUserDkgMessage(curve: CurveArithmetic, bytes: Uint8Array): UserDkgMessage {
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
