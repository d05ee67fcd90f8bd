import { bcs } from "@mysten/sui/bcs";
import { deriveDynamicFieldID } from "@mysten/sui/utils";
import { TreasuryDWallet, TreasuryObject } from "./treasury-objects.ts";

/** Returns the ids of a Treasury's entries for a dWallet, from the Treasury's content. */
export function custodyPlaces(treasuryContent: Uint8Array, dwalletId: string): CustodyPlaces {
  const { id, custody } = TreasuryObject.parse(treasuryContent);
  const name = bcs.Address.serialize(dwalletId).toBytes();
  return {
    treasuryId: id,
    dwalletEntryId: deriveDynamicFieldID(custody.dwallets.id, ID_TYPE, name),
    capEntryId: deriveDynamicFieldID(custody.dwallet_caps.id, OBJECT_NAME_TYPE, name),
    nonceEntryId: deriveDynamicFieldID(custody.nonces.id, ID_TYPE, name),
  };
}

/** Ids of the entries of a Treasury's tables that belong to one dWallet. */
export interface CustodyPlaces {
  readonly treasuryId: string;
  /** The record of the dWallet and its owner. It exists while the Treasury holds the capability. */
  readonly dwalletEntryId: string;
  /** The entry that holds the capability. It exists as long as the entry above. */
  readonly capEntryId: string;
  /** The number of used consents. It exists from the first consent on, and each consent writes it. */
  readonly nonceEntryId: string;
}

/** Parses the entry at `dwalletEntryId`. */
export function parseHeldDWallet(entryContent: Uint8Array): HeldDWallet {
  const { value } = DWalletEntry.parse(entryContent);
  const { owner, curve, is_refused: isRefused, release } = value;
  return { owner, curveNumber: curve, isRefused, isReleaseAnnounced: release !== null };
}

/** A dWallet whose capability a Treasury holds. */
export interface HeldDWallet {
  /** The address of the user's encryption key. Its holder can take the capability out. */
  readonly owner: string;
  readonly curveNumber: number;
  /** Whether the owner has forbidden the administrator to hand out the capability. */
  readonly isRefused: boolean;
  /** Whether the administrator has announced a release of the capability. */
  readonly isReleaseAnnounced: boolean;
}

/** Parses the entry at `capEntryId`: the capability's object id. */
export function parseHeldCapId(entryContent: Uint8Array): string {
  return CapEntry.parse(entryContent).value;
}

/** Parses the entry at `nonceEntryId`: the nonce of the next consent. Returns 0 if there is no entry. */
export function parseNextNonce(entryContent: Uint8Array | undefined): bigint {
  return entryContent === undefined ? 0n : BigInt(NonceEntry.parse(entryContent).value);
}

/** Returns whether the Treasury aborted because it does not hold a dWallet's capability. */
export function isNotHeld(abort: { readonly module: string; readonly code: number } | undefined): boolean {
  return abort?.module === "custody" && abort.code === UNKNOWN_DWALLET;
}

/** `custody::EUnknownDWallet` */
const UNKNOWN_DWALLET = 1;

const ID_TYPE = "0x2::object::ID";
const OBJECT_NAME_TYPE = "0x2::dynamic_object_field::Wrapper<0x2::object::ID>";

const DWalletEntry = bcs.struct("Field", { id: bcs.Address, name: bcs.Address, value: TreasuryDWallet });
const CapEntry = bcs.struct("Field", { id: bcs.Address, name: bcs.Address, value: bcs.Address });
const NonceEntry = bcs.struct("Field", { id: bcs.Address, name: bcs.Address, value: bcs.u64() });
