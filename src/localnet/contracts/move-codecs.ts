import { CoordinatorInnerModule, CoordinatorModule, SessionsManagerModule } from "@ika.xyz/sdk";
import { type BcsType, bcs, TypeTagSerializer } from "@mysten/sui/bcs";
import { Address, U64 } from "../../protocol/chain/fast-bcs.ts";
import { TreasuryDWallet, TreasuryObject } from "../../protocol/chain/treasury-custody.ts";
import { Coin } from "../fullnode/objects/object.ts";
import { coinTypeOf, ID_TYPE, MOVE_STDLIB, SUI_FRAMEWORK } from "../fullnode/objects/sui-types.ts";
import type { ContentsCodec } from "../fullnode/wire/move-json.ts";
import type { NetworkAddresses } from "./addresses.ts";
import { coordinatorTypes } from "./coordinator/coordinator-state.ts";
import { TREASURY_EVENTS } from "./treasury/treasury-events.ts";
import { TreasuryCap, treasuryType } from "./treasury/treasury-state.ts";

/**
 * Returns the BCS codec of a Move type of this network: its objects, its events, and the dynamic fields whose name and
 * value it knows; undefined for every other type, and for the coordinator's inner state, which is large.
 */
export function moveCodecs(addresses: NetworkAddresses): (type: string) => ContentsCodec | undefined {
  const { inner, sessions, coordinator } = coordinatorTypes(addresses.dwalletPackageId);
  const codecs = new Map<string, AnyCodec | undefined>([
    [coordinator, CoordinatorModule.DWalletCoordinator],
    [sessions("UserSessionIdentifierRegisteredEvent"), UserSessionIdentifierRegisteredEvent],
    [treasuryType(addresses, "treasury::Treasury"), TreasuryObject],
    [treasuryType(addresses, "custody::DWallet"), TreasuryDWallet],
    [treasuryType(addresses, "roles::AdminCap"), TreasuryCap],
    [treasuryType(addresses, "treasury::OperatorCap"), TreasuryCap],
    ...Object.entries(TREASURY_EVENTS).map(
      ([name, codec]) =>
        [treasuryType(addresses, name as `${string}::${string}`), codec as AnyCodec] as const,
    ),
    ...Object.entries(COORDINATOR_INNER).map(([name, codec]) => [inner(name), codec] as const),
    ...Object.entries(SESSION_DATA).map(([name, codec]) => [inner(name), codec] as const),
  ]);
  const generics: Generics = {
    ...GENERICS,
    [sessions("DWalletSessionEvent")]: (data) => DWalletSessionEvent(data as AnyCodec),
    [sessions("DWalletSessionResultEvent")]: (...parts) =>
      DWalletSessionResultEvent(...(parts as [AnyCodec, AnyCodec, AnyCodec])),
  };
  const codecOf = (type: string): AnyCodec | undefined => {
    if (coinTypeOf(type) !== undefined) return Coin;
    if (codecs.has(type)) return codecs.get(type);
    const tag = tagOf(type);
    const made = tag && codecOfTag(tag);
    if (codecs.size < MAX_CODECS) codecs.set(type, made);
    return made;
  };
  return codecOf;

  function codecOfTag(tag: TypeTag): AnyCodec | undefined {
    if ("vector" in tag) {
      if ("u8" in tag.vector) return bcs.byteVector();
      const item = codecOfTag(tag.vector);
      return item && bcs.vector(item);
    }
    if (!("struct" in tag)) return PRIMITIVES[Object.keys(tag)[0] ?? ""];
    const { address, module, name, typeParams } = tag.struct;
    const plain = `${address}::${module}::${name}`;
    if (typeParams.length === 0) return codecs.get(plain) ?? FRAMEWORK[plain];
    const parts = typeParams.flatMap((part) => codecOf(TypeTagSerializer.tagToString(part)) ?? []);
    return parts.length === typeParams.length ? generics[plain]?.(...parts) : undefined;
  }
}

type TypeTag = ReturnType<typeof TypeTagSerializer.parseFromStr>;
// biome-ignore lint/suspicious/noExplicitAny: the input and the output of a BCS type differ
type AnyCodec = BcsType<any>;

/** Returns undefined for what is no Move type, such as that of a package. */
function tagOf(type: string): TypeTag | undefined {
  try {
    return TypeTagSerializer.parseFromStr(type, true);
  } catch {
    return undefined;
  }
}

/** Codecs of types with parameters, from those of the parameters. */
type Generics = Readonly<Record<string, (...parts: AnyCodec[]) => AnyCodec>>;

/** A network has some dozens of types. */
const MAX_CODECS = 1_000;

const PRIMITIVES: Readonly<Record<string, AnyCodec>> = {
  bool: bcs.bool(),
  u8: bcs.u8(),
  u16: bcs.u16(),
  u32: bcs.u32(),
  u64: U64,
  u128: bcs.u128(),
  u256: bcs.u256(),
  address: Address,
};

/** Types of Sui without parameters, by their names. */
const FRAMEWORK: Readonly<Record<string, AnyCodec>> = {
  [ID_TYPE]: Address,
  [`${MOVE_STDLIB}::string::String`]: bcs.string(),
};

/** Types of Sui with parameters. */
const GENERICS: Generics = {
  [`${SUI_FRAMEWORK}::dynamic_field::Field`]: (name, value) =>
    bcs.struct("Field", { id: Address, name: name as AnyCodec, value: value as AnyCodec }),
  [`${SUI_FRAMEWORK}::dynamic_object_field::Wrapper`]: (name) =>
    bcs.struct("Wrapper", { name: name as AnyCodec }),
  [`${SUI_FRAMEWORK}::balance::Balance`]: () => bcs.struct("Balance", { value: U64 }),
};

const { DWalletSessionEvent, DWalletSessionResultEvent, UserSessionIdentifierRegisteredEvent } =
  SessionsManagerModule;

const {
  DWallet,
  DWalletCap,
  DWalletNetworkEncryptionKey,
  EncryptedUserSecretKeyShare,
  EncryptionKey,
  ImportedKeyDWalletCap,
  PartialUserSignature,
  PresignSession,
  SignSession,
  UnverifiedPartialUserSignatureCap,
  UnverifiedPresignCap,
  VerifiedPartialUserSignatureCap,
  VerifiedPresignCap,
} = CoordinatorInnerModule;

/** The coordinator's object types, by their names in Move. */
const COORDINATOR_INNER = {
  DWallet,
  DWalletCap,
  DWalletNetworkEncryptionKey,
  EncryptedUserSecretKeyShare,
  EncryptionKey,
  ImportedKeyDWalletCap,
  PartialUserSignature,
  PresignSession,
  SignSession,
  UnverifiedPartialUserSignatureCap,
  UnverifiedPresignCap,
  VerifiedPartialUserSignatureCap,
  VerifiedPresignCap,
};

const {
  AcceptEncryptedUserShareEvent,
  CompletedDWalletDKGEvent,
  CompletedDWalletImportedKeyVerificationEvent,
  CompletedEncryptedShareVerificationEvent,
  CompletedFutureSignEvent,
  CompletedMakeDWalletUserSecretKeySharePublicEvent,
  CompletedPresignEvent,
  CompletedSignEvent,
  CreatedEncryptionKeyEvent,
  DWalletDKGRequestEvent,
  DWalletImportedKeyVerificationRequestEvent,
  EncryptedShareVerificationRequestEvent,
  FutureSignRequestEvent,
  MakeDWalletUserSecretKeySharePublicRequestEvent,
  PresignRequestEvent,
  RejectedDWalletDKGEvent,
  RejectedDWalletImportedKeyVerificationEvent,
  RejectedEncryptedShareVerificationEvent,
  RejectedFutureSignEvent,
  RejectedMakeDWalletUserSecretKeySharePublicEvent,
  RejectedPresignEvent,
  RejectedSignEvent,
  SignRequestEvent,
} = CoordinatorInnerModule;

/** The coordinator's events, and what its sessions' events contain, by their names in Move. */
const SESSION_DATA = {
  AcceptEncryptedUserShareEvent,
  CompletedDWalletDKGEvent,
  CompletedDWalletImportedKeyVerificationEvent,
  CompletedEncryptedShareVerificationEvent,
  CompletedFutureSignEvent,
  CompletedMakeDWalletUserSecretKeySharePublicEvent,
  CompletedPresignEvent,
  CompletedSignEvent,
  CreatedEncryptionKeyEvent,
  DWalletDKGRequestEvent,
  DWalletImportedKeyVerificationRequestEvent,
  EncryptedShareVerificationRequestEvent,
  FutureSignRequestEvent,
  MakeDWalletUserSecretKeySharePublicRequestEvent,
  PresignRequestEvent,
  RejectedDWalletDKGEvent,
  RejectedDWalletImportedKeyVerificationEvent,
  RejectedEncryptedShareVerificationEvent,
  RejectedFutureSignEvent,
  RejectedMakeDWalletUserSecretKeySharePublicEvent,
  RejectedPresignEvent,
  RejectedSignEvent,
  SignRequestEvent,
};

/** Fields that are lists of numbers. All other fields that decode to a list of numbers are bytes. */
export const NUMBER_LISTS: ReadonlySet<string> = new Set(["supported_curves"]);
