import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import type { SessionOf, WaitingSession } from "./contracts/coordinator/completion/requested-session.ts";
import type { MpcOutcome, NetworkDkgInput, NetworkMpc, NetworkSignInput } from "./mpc/engine.ts";

/** Sends a session's request to the network's cryptography. */
export function askMpc(mpc: NetworkMpc, session: WaitingSession): Promise<MpcOutcome> {
  switch (session.kind) {
    case "dkg":
      return askDkg(mpc, session);
    case "importedKey": {
      const { data } = session;
      return mpc.importKey({
        curve: data.curve,
        sessionId: sessionIdentifierDigest(session),
        userMessage: Uint8Array.from(data.centralized_party_message),
        userPublicOutput: Uint8Array.from(data.user_public_output),
        encryptedShareAndProof: Uint8Array.from(data.encrypted_centralized_secret_share_and_proof),
        encryptionKey: Uint8Array.from(data.encryption_key),
      });
    }
    case "encryptedShare":
      return mpc.checkEncryptedShare({
        curve: session.data.curve,
        dwalletPublicOutput: Uint8Array.from(session.data.public_output),
        encryptedShareAndProof: Uint8Array.from(session.data.encrypted_centralized_secret_share_and_proof),
        encryptionKey: Uint8Array.from(session.data.encryption_key),
      });
    case "publicShare":
      return mpc.checkPublicShare({
        curve: session.data.curve,
        dwalletPublicOutput: Uint8Array.from(session.data.public_output),
        publicUserShare: Uint8Array.from(session.data.public_user_secret_key_share),
      });
    case "presign":
      return mpc.presign({
        curve: session.data.curve,
        signatureAlgorithm: session.data.signature_algorithm,
        sessionId: sessionIdentifierDigest(session),
        dwalletPublicOutput: optionalBytes(session.data.dwallet_public_output),
      });
    case "futureSign":
      return mpc.checkUserSignature(signInput(session.data));
    case "sign":
      return mpc.sign(signInput(session.data));
  }
}

function signInput(data: SessionOf<"sign" | "futureSign">["data"]): NetworkSignInput {
  return {
    curve: data.curve,
    signatureAlgorithm: data.signature_algorithm,
    hashScheme: data.hash_scheme,
    dwalletPublicOutput: Uint8Array.from(data.dwallet_public_output),
    presign: Uint8Array.from(data.presign),
    message: Uint8Array.from(data.message),
    userSignMessage: Uint8Array.from(data.message_centralized_signature),
  };
}

function askDkg(mpc: NetworkMpc, session: SessionOf<"dkg">): Promise<MpcOutcome> {
  const { data } = session;
  const { Encrypted: encrypted, Public: published } = data.user_secret_key_share;
  const share =
    encrypted === undefined
      ? { publicUserShare: Uint8Array.from(published?.public_user_secret_key_share ?? []) }
      : {
          encryptedShareAndProof: Uint8Array.from(encrypted.encrypted_centralized_secret_share_and_proof),
          encryptionKey: Uint8Array.from(encrypted.encryption_key),
        };
  return mpc.dkg({
    curve: data.curve,
    sessionId: sessionIdentifierDigest(session),
    userDkgMessage: Uint8Array.from(data.centralized_public_key_share_and_proof),
    userPublicOutput: Uint8Array.from(data.user_public_output),
    sign: data.sign_during_dkg_request === null ? undefined : dkgSignInput(data.sign_during_dkg_request),
    ...share,
  });
}

function dkgSignInput(
  data: NonNullable<SessionOf<"dkg">["data"]["sign_during_dkg_request"]>,
): NetworkDkgInput["sign"] {
  return {
    signatureAlgorithm: data.signature_algorithm,
    hashScheme: data.hash_scheme,
    presign: Uint8Array.from(data.presign),
    message: Uint8Array.from(data.message),
    userSignMessage: Uint8Array.from(data.message_centralized_signature),
  };
}

function optionalBytes(bytes: readonly number[] | null): Uint8Array | undefined {
  return bytes === null ? undefined : Uint8Array.from(bytes);
}

/** Returns keccak256(u64be(0) || "USER" || preimage), to which the proofs of a user's session are bound. */
function sessionIdentifierDigest({ fields }: WaitingSession): Uint8Array {
  const preimage = Uint8Array.from(fields.session_identifier_preimage);
  return keccak_256(concatBytes(new Uint8Array(8), utf8ToBytes("USER"), preimage));
}
