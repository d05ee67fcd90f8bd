import { CoordinatorInnerDynamicField, CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import { U64 } from "../../../../protocol/chain/fast-bcs.ts";
import { fieldId, idName, objectFieldId, u64Name } from "../../../fullnode/objects/dynamic-fields.ts";
import type { ChainObject } from "../../../fullnode/objects/object.ts";
import type { ObjectStore } from "../../../fullnode/objects/object-store.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import type { SessionFields } from "../sessions.ts";

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

const inner = CoordinatorInnerModule;
const { DWalletSessionEvent } = SessionsManagerModule;

/** The request event of each kind of session: its name in Move, and its codec. */
const EVENTS = {
  dkg: ["DWalletDKGRequestEvent", DWalletSessionEvent(inner.DWalletDKGRequestEvent)],
  importedKey: [
    "DWalletImportedKeyVerificationRequestEvent",
    DWalletSessionEvent(inner.DWalletImportedKeyVerificationRequestEvent),
  ],
  encryptedShare: [
    "EncryptedShareVerificationRequestEvent",
    DWalletSessionEvent(inner.EncryptedShareVerificationRequestEvent),
  ],
  futureSign: ["FutureSignRequestEvent", DWalletSessionEvent(inner.FutureSignRequestEvent)],
  publicShare: [
    "MakeDWalletUserSecretKeySharePublicRequestEvent",
    DWalletSessionEvent(inner.MakeDWalletUserSecretKeySharePublicRequestEvent),
  ],
  presign: ["PresignRequestEvent", DWalletSessionEvent(inner.PresignRequestEvent)],
  sign: ["SignRequestEvent", DWalletSessionEvent(inner.SignRequestEvent)],
} as const satisfies Record<SessionKind, readonly [string, unknown]>;

/** The data of the request event of each kind of session that the network completes, as the SDK decodes it. */
interface RequestEvents {
  readonly dkg: typeof CoordinatorInnerModule.DWalletDKGRequestEvent.$inferType;
  readonly importedKey: typeof CoordinatorInnerModule.DWalletImportedKeyVerificationRequestEvent.$inferType;
  readonly encryptedShare: typeof CoordinatorInnerModule.EncryptedShareVerificationRequestEvent.$inferType;
  readonly futureSign: typeof CoordinatorInnerModule.FutureSignRequestEvent.$inferType;
  readonly publicShare: typeof CoordinatorInnerModule.MakeDWalletUserSecretKeySharePublicRequestEvent.$inferType;
  readonly presign: typeof CoordinatorInnerModule.PresignRequestEvent.$inferType;
  readonly sign: typeof CoordinatorInnerModule.SignRequestEvent.$inferType;
}

/** A kind of session that the network completes. */
export type SessionKind = keyof RequestEvents;

/** A session of one kind that waits for the network, with its request event. */
export interface SessionOf<Kind extends SessionKind> {
  readonly kind: Kind;
  readonly sequenceNumber: bigint;
  readonly fields: SessionFields;
  readonly data: RequestEvents[Kind];
}

/** A session of any kind. */
export type WaitingSession = { readonly [Kind in SessionKind]: SessionOf<Kind> }[SessionKind];

/** Returns the sequence numbers of all sessions that wait for the network, in the order in which they were opened. */
export function requestedSequenceNumbers(objects: ObjectStore, addresses: NetworkAddresses): bigint[] {
  const { sessions } = keeperOf(objects, addresses);
  return objects
    .fields(sessions.id)
    .map((object) => BigInt(U64.parse(object.field?.name ?? new Uint8Array(8))))
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

function decodeSession(sequenceNumber: bigint, type: string, bytes: Uint8Array): WaitingSession {
  for (const [kind, [name, codec]] of Object.entries(EVENTS)) {
    if (!type.endsWith(`::${name}>`)) continue;
    const { event_data: data, ...parsed } = codec.parse(bytes);
    const fields: SessionFields = { ...parsed, session_type: { $kind: "User", User: true } };
    return { kind, sequenceNumber, fields, data } as WaitingSession;
  }
  throw new Error(`unknown session event ${type}`);
}

function keeperOf(objects: ObjectStore, addresses: NetworkAddresses): Keeper {
  const innerState = objects.get(addresses.coordinatorInnerId);
  if (innerState === undefined) throw new Error("the coordinator has no inner state");
  const known = keepers.get(innerState);
  if (known !== undefined) return known;
  const inner = CoordinatorInnerDynamicField.parse(innerState.contents).value;
  const keeper = inner.sessions_manager.user_sessions_keeper;
  keepers.set(innerState, keeper);
  return keeper;
}

type Keeper =
  (typeof CoordinatorInnerModule.DWalletCoordinatorInner.$inferType)["sessions_manager"]["user_sessions_keeper"];

/** By version of the coordinator's inner state, which takes long to parse and is read for each waiting session. */
const keepers = new WeakMap<ChainObject, Keeper>();
