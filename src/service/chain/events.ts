import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { Address, U64 } from "../../protocol/chain/fast-bcs.ts";
import type { ChainEvent } from "./operation.ts";

/**
 * Returns the sessions of one kind that a transaction requested. An event's type names the package that first defined
 * it, so types are matched by their ends.
 */
export function requestedSessions<Name extends RequestName>(
  events: readonly ChainEvent[],
  name: Name,
): RequestedSession<RequestData<Name>>[] {
  const struct = SessionsManagerModule.DWalletSessionEvent(REQUESTS[name] as never);
  return events
    .filter(({ type }) => type.includes(SESSION_EVENT) && type.endsWith(`::${name}>`))
    .map(({ bcs }) => {
      const event = struct.parse(bcs) as {
        session_identifier_preimage: number[];
        event_data: RequestData<Name>;
      };
      return { preimage: Uint8Array.from(event.session_identifier_preimage), data: event.event_data };
    });
}

/** A requested session, as the coordinator's event describes it. */
export interface RequestedSession<Data> {
  /** keccak256 of sender and session bytes. It identifies the request of this session. */
  readonly preimage: Uint8Array;
  readonly data: Data;
}

const SESSION_EVENT = "::sessions_manager::DWalletSessionEvent<";

type RequestName =
  | "DWalletDKGRequestEvent"
  | "DWalletImportedKeyVerificationRequestEvent"
  | "PresignRequestEvent"
  | "SignRequestEvent"
  | "FutureSignRequestEvent"
  | "EncryptedShareVerificationRequestEvent";

const REQUESTS: Pick<typeof CoordinatorInnerModule, RequestName> = {
  DWalletDKGRequestEvent: CoordinatorInnerModule.DWalletDKGRequestEvent,
  DWalletImportedKeyVerificationRequestEvent:
    CoordinatorInnerModule.DWalletImportedKeyVerificationRequestEvent,
  PresignRequestEvent: CoordinatorInnerModule.PresignRequestEvent,
  SignRequestEvent: CoordinatorInnerModule.SignRequestEvent,
  FutureSignRequestEvent: CoordinatorInnerModule.FutureSignRequestEvent,
  EncryptedShareVerificationRequestEvent: CoordinatorInnerModule.EncryptedShareVerificationRequestEvent,
};

type RequestData<Name extends RequestName> = (typeof CoordinatorInnerModule)[Name]["$inferType"];

/** The first fields of every session event. */
const SessionHead = bcs.struct("DWalletSessionEvent", {
  epoch: U64,
  session_object_id: Address,
  session_type: bcs.enum("SessionType", { User: null, System: null }),
  session_sequence_number: U64,
  session_identifier_preimage: bcs.byteVector(),
});

/** Returns the identifier preimages of all sessions that a transaction requested. */
export function requestedPreimages(events: readonly ChainEvent[]): Uint8Array[] {
  return events
    .filter(({ type }) => type.includes(SESSION_EVENT))
    .map((event) => SessionHead.parse(event.bcs).session_identifier_preimage);
}

/** Returns the encryption keys that a transaction registered. */
export function createdEncryptionKeys(
  events: readonly ChainEvent[],
): { encryptionKeyId: string; signerAddress: string }[] {
  return events
    .filter(({ type }) => type.endsWith("::coordinator_inner::CreatedEncryptionKeyEvent"))
    .map(({ bcs }) => {
      const event = CoordinatorInnerModule.CreatedEncryptionKeyEvent.parse(bcs);
      return { encryptionKeyId: event.encryption_key_id, signerAddress: event.signer_address };
    });
}

/** Returns the encrypted shares that a transaction accepted. */
export function acceptedShares(
  events: readonly ChainEvent[],
): { dwalletId: string; shareId: string; userOutputSignature: Uint8Array }[] {
  return events
    .filter(({ type }) => type.endsWith("::coordinator_inner::AcceptEncryptedUserShareEvent"))
    .map(({ bcs }) => {
      const event = CoordinatorInnerModule.AcceptEncryptedUserShareEvent.parse(bcs);
      return {
        dwalletId: event.dwallet_id,
        shareId: event.encrypted_user_secret_key_share_id,
        userOutputSignature: Uint8Array.from(event.user_output_signature),
      };
    });
}
