import { SessionsManagerModule } from "@ika.xyz/sdk";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { Address } from "../../../protocol/chain/fast-bcs.ts";
import type { ExecutionState, WorkingObject } from "../../fullnode/execution/execution-state.ts";
import {
  addField,
  addObject,
  bytesName,
  fieldValue,
  idName,
  u64Name,
} from "../../fullnode/objects/dynamic-fields.ts";
import { ID_TYPE } from "../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { abortSessions } from "./aborts.ts";
import { assertCoordinatorVersion, coordinatorTypes, readInner, updateInner } from "./coordinator-state.ts";
import type { Charge } from "./payment.ts";

const { DWalletSession, SessionIdentifier, UserSessionIdentifierRegisteredEvent } = SessionsManagerModule;

/** Consumes the identifier, queues the session for the network and emits its event. */
export function openSession(
  state: ExecutionState,
  addresses: NetworkAddresses,
  request: SessionRequest,
): void {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const identifier = state.read(request.identifier, SessionIdentifier);
  const inner = readInner(state, addresses);
  const sequenceNumber = inner.sessions_manager.user_sessions_keeper.next_session_sequence_number;
  const sessionId = state.newId();
  const fields: SessionFields = {
    epoch: inner.current_epoch,
    session_object_id: sessionId,
    session_type: { $kind: "User", User: true },
    session_sequence_number: sequenceNumber,
    session_identifier_preimage: identifier.identifier_preimage,
  };
  const eventType = types.sessions(`DWalletSessionEvent<${types.inner(request.eventName)}>`);
  const event = request.encode(fields);
  const session = state.create({
    id: sessionId,
    type: types.sessions("DWalletSession"),
    contents: DWalletSession.serialize({
      id: sessionId,
      session_identifier: identifier,
      session_sequence_number: sequenceNumber,
      dwallet_network_encryption_key_id: request.networkEncryptionKeyId,
      fee_charged_ika: { value: request.charge.ika },
      gas_fee_reimbursement_sui: { value: request.charge.sui },
    }).toBytes(),
  });
  // The identifier lives on inside the session.
  state.remove(request.identifier);
  updateInner(state, addresses, (changed) => {
    const keeper = changed.sessions_manager.user_sessions_keeper;
    addObject(state, keeper.sessions, u64Name(BigInt(sequenceNumber)), session);
    addField(state, keeper.session_events, idName(sessionId), eventType, event);
    keeper.started_sessions_count = increment(keeper.started_sessions_count);
    keeper.next_session_sequence_number = increment(keeper.next_session_sequence_number);
    updateLastSession(changed.sessions_manager);
  });
  state.emit({
    packageId: addresses.dwalletPackageId,
    module: "sessions_manager",
    type: eventType,
    contents: event,
  });
}

const SESSION_IDENTIFIER_BYTES = 32;

/**
 * Registers 32 bytes of a sender as a session identifier, which can never be registered again. Its preimage is
 * keccak256(sender || bytes).
 */
export function registerSessionIdentifier(
  state: ExecutionState,
  addresses: NetworkAddresses,
  sender: string,
  bytes: Uint8Array,
): WorkingObject {
  const { dwalletPackageId } = addresses;
  const functionName = "register_session_identifier";
  assertCoordinatorVersion(state, addresses);
  if (bytes.length !== SESSION_IDENTIFIER_BYTES) {
    abortSessions(dwalletPackageId, functionName, "InvalidSessionIdentifierLength");
  }
  const preimage = keccak_256(concatBytes(Address.serialize(sender).toBytes(), bytes));
  const registered = readInner(state, addresses).sessions_manager.registered_user_session_identifiers;
  if (fieldValue(state, registered, bytesName(preimage)) !== undefined) {
    abortSessions(dwalletPackageId, functionName, "SessionIdentifierAlreadyRegistered");
  }
  const types = coordinatorTypes(dwalletPackageId);
  const id = state.newId();
  updateInner(state, addresses, (inner) => {
    const table = inner.sessions_manager.registered_user_session_identifiers;
    addField(state, table, bytesName(preimage), ID_TYPE, Address.serialize(id).toBytes());
  });
  const contents = SessionIdentifier.serialize({ id, identifier_preimage: preimage }).toBytes();
  const identifier = state.create({ id, type: types.sessions("SessionIdentifier"), contents });
  state.emit({
    packageId: dwalletPackageId,
    module: "sessions_manager",
    type: types.sessions("UserSessionIdentifierRegisteredEvent"),
    contents: UserSessionIdentifierRegisteredEvent.serialize({
      session_object_id: id,
      session_identifier_preimage: preimage,
    }).toBytes(),
  });
  return identifier;
}

export interface SessionRequest {
  readonly identifier: WorkingObject;
  readonly networkEncryptionKeyId: string;
  readonly charge: Charge;
  /** The request event's name in `coordinator_inner`. */
  readonly eventName: string;
  /** Encodes the whole session event from the session's own fields. */
  encode(session: SessionFields): Uint8Array;
}

export interface SessionFields {
  readonly epoch: string;
  readonly session_object_id: string;
  readonly session_type: { readonly $kind: "User"; readonly User: true };
  readonly session_sequence_number: string;
  readonly session_identifier_preimage: number[];
}

/** Adds one to a u64 in its decoded form. */
export function increment(value: string): string {
  return (BigInt(value) + 1n).toString();
}

/** Allows at most `max_active_sessions_buffer` sessions beyond the completed ones in the current epoch. */
function updateLastSession(manager: ReturnType<typeof readInner>["sessions_manager"]): void {
  const keeper = manager.user_sessions_keeper;
  const due = BigInt(keeper.completed_sessions_count) + BigInt(manager.max_active_sessions_buffer);
  const last = BigInt(keeper.next_session_sequence_number) - 1n;
  manager.last_user_initiated_session_to_complete_in_current_epoch = (due < last ? due : last).toString();
}
