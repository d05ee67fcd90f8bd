import { CoordinatorInnerDynamicField, CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { fieldId, idName, objectFieldId, u64Name } from "../../fullnode/objects/dynamic-fields.ts";
import type { ObjectStore } from "../../fullnode/objects/object-store.ts";
import type { NetworkAddresses } from "../addresses.ts";
import type { SessionFields } from "./sessions.ts";

/** Reads one waiting session from the chain. Returns undefined if it is no longer there. */
export function requestedSession(
  objects: ObjectStore,
  addresses: NetworkAddresses,
  sequenceNumber: bigint,
): WaitingSession | undefined {
  const keeper = keeperOf(objects, addresses);
  const field = objects.get(objectFieldId(keeper.sessions.id, u64Name(sequenceNumber)));
  const object = field?.field?.childId === undefined ? undefined : objects.get(field.field.childId);
  if (object === undefined) return undefined;
  const name = idName(object.id);
  const event = objects.get(fieldId(keeper.session_events.id, name));
  if (event?.field === undefined) throw new Error(`session ${sequenceNumber} has no event`);
  return decodeSession(
    sequenceNumber,
    event.field.valueType,
    event.contents.subarray(32 + name.bytes.length),
  );
}

const { DWalletDKGRequestEvent, PresignRequestEvent, SignRequestEvent } = CoordinatorInnerModule;
const { DWalletSessionEvent } = SessionsManagerModule;

const DkgEvent = DWalletSessionEvent(DWalletDKGRequestEvent);
const PresignEvent = DWalletSessionEvent(PresignRequestEvent);
const SignEvent = DWalletSessionEvent(SignRequestEvent);

/** A session that waits for the network, with its request event. */
export type WaitingSession = { readonly sequenceNumber: bigint; readonly fields: SessionFields } & (
  | { readonly kind: "dkg"; readonly data: typeof CoordinatorInnerModule.DWalletDKGRequestEvent.$inferType }
  | { readonly kind: "presign"; readonly data: typeof CoordinatorInnerModule.PresignRequestEvent.$inferType }
  | { readonly kind: "sign"; readonly data: typeof CoordinatorInnerModule.SignRequestEvent.$inferType }
);

/** Returns the sequence numbers of all sessions that wait for the network, in the order in which they were opened. */
export function requestedSequenceNumbers(objects: ObjectStore, addresses: NetworkAddresses): bigint[] {
  const { sessions } = keeperOf(objects, addresses);
  return objects
    .fields(sessions.id)
    .map((object) => BigInt(bcs.u64().parse(object.field?.name ?? new Uint8Array(8))))
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

function decodeSession(sequenceNumber: bigint, type: string, bytes: Uint8Array): WaitingSession {
  if (type.endsWith("::DWalletDKGRequestEvent>")) {
    const { event_data: data, ...fields } = DkgEvent.parse(bytes);
    return { kind: "dkg", sequenceNumber, fields: userFields(fields), data };
  }
  if (type.endsWith("::PresignRequestEvent>")) {
    const { event_data: data, ...fields } = PresignEvent.parse(bytes);
    return { kind: "presign", sequenceNumber, fields: userFields(fields), data };
  }
  if (type.endsWith("::SignRequestEvent>")) {
    const { event_data: data, ...fields } = SignEvent.parse(bytes);
    return { kind: "sign", sequenceNumber, fields: userFields(fields), data };
  }
  throw new Error(`unknown session event ${type}`);
}

function userFields(fields: Omit<SessionFields, "session_type">): SessionFields {
  return { ...fields, session_type: { $kind: "User", User: true } };
}

function keeperOf(objects: ObjectStore, addresses: NetworkAddresses) {
  const inner = objects.get(addresses.coordinatorInnerId);
  if (inner === undefined) throw new Error("the coordinator has no inner state");
  return CoordinatorInnerDynamicField.parse(inner.contents).value.sessions_manager.user_sessions_keeper;
}
