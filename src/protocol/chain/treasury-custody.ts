import { bcs } from "@mysten/sui/bcs";
import { deriveDynamicFieldID } from "@mysten/sui/utils";
import { Address, U64 } from "./fast-bcs.ts";

const Table = bcs.struct("Table", { id: Address, size: U64 });

/** `custody::Announcement`: an announced recipient, and the epoch from which on it can receive. */
const Announcement = bcs.struct("Announcement", { to: Address, from_epoch: U64 });

/** `roles::Offer`: a proposed administrator, and the epoch from which on it can accept. */
const Offer = bcs.struct("Offer", { to: Address, from_epoch: U64, is_recovery: bcs.bool() });

/** `operators::Amounts`: the amounts of one epoch, coins in their smallest units and numbers of operations. */
export const EpochAmounts = bcs.struct("Amounts", {
  ika: U64,
  sui: U64,
  dkgs: U64,
  presigns: U64,
  signs: U64,
});

/** `treasury::treasury::Treasury` */
export const TreasuryObject = bcs.struct("Treasury", {
  id: Address,
  version: U64,
  paused: bcs.bool(),
  ika: U64,
  sui: U64,
  roles: bcs.struct("Roles", {
    admin_cap_id: Address,
    pauser: Address,
    recovery: Address,
    offer: bcs.option(Offer),
  }),
  operators: bcs.vector(
    bcs.struct("Operator", {
      cap_id: Address,
      holder: Address,
      expires_epoch: U64,
      limits: EpochAmounts,
      epoch: U64,
      spent: EpochAmounts,
    }),
  ),
  ceilings: Table,
  custody: bcs.struct("Custody", {
    dwallet_caps: Table,
    presign_caps: Table,
    dwallets: Table,
    nonces: Table,
    announced: bcs.vector(Address),
    successor: bcs.option(Announcement),
  }),
});

/** `custody::DWallet`: a Treasury's record of a dWallet whose capability it holds. */
export const TreasuryDWallet = bcs.struct("DWallet", {
  curve: bcs.u32(),
  owner: Address,
  is_refused: bcs.bool(),
  release: bcs.option(Announcement),
});

/** Returns the ids of a Treasury's entries for a dWallet, from the Treasury's content. */
export function custodyPlaces(treasuryContent: Uint8Array, dwalletId: string): CustodyPlaces {
  const { id, custody } = TreasuryObject.parse(treasuryContent);
  const name = Address.serialize(dwalletId).toBytes();
  return {
    treasuryId: id,
    dwalletEntryId: deriveDynamicFieldID(custody.dwallets.id, ID_TYPE, name),
    capEntryId: deriveDynamicFieldID(custody.dwallet_caps.id, OBJECT_NAME_TYPE, name),
    importedKeyEntryId: deriveDynamicFieldID(id, OBJECT_NAME_TYPE, name),
    nonceEntryId: deriveDynamicFieldID(custody.nonces.id, ID_TYPE, name),
  };
}

/** Ids of the entries of a Treasury's tables that belong to one dWallet. */
interface CustodyPlaces {
  readonly treasuryId: string;
  /** The record of the dWallet and its owner. It exists while the Treasury holds the capability. */
  readonly dwalletEntryId: string;
  /** The entry that holds the capability of a dWallet of a DKG. It exists as long as the entry above. */
  readonly capEntryId: string;
  /** The entry that holds the capability of an imported key. It exists as long as the record. */
  readonly importedKeyEntryId: string;
  /** The number of used consents. It exists from the first consent on, and each consent writes it. */
  readonly nonceEntryId: string;
}

/** Returns the id of a Treasury's table of dWallets, from the Treasury's content. An entry's name is a dWallet's id. */
export function custodyTableId(treasuryContent: Uint8Array): string {
  return TreasuryObject.parse(treasuryContent).custody.dwallets.id;
}

/** Returns the owner in a value of that table, as a fullnode lists it; undefined for bytes of another layout. */
export function ownerInEntry(value: Uint8Array | undefined): string | undefined {
  try {
    return value && TreasuryDWallet.parse(value).owner;
  } catch {
    return undefined;
  }
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

/** Parses the entry at `capEntryId` or `importedKeyEntryId`: the capability's object id. */
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

const DWalletEntry = bcs.struct("Field", { id: Address, name: Address, value: TreasuryDWallet });
const CapEntry = bcs.struct("Field", { id: Address, name: Address, value: Address });
const NonceEntry = bcs.struct("Field", { id: Address, name: Address, value: U64 });

/** Returns the exits of dWallets that a transaction made, from its events. */
export function dwalletExits(
  events: readonly { readonly type: string; readonly bcs: Uint8Array }[],
): DWalletExit[] {
  return ofType(events, "DWalletLeft").map((content) => {
    const event = DWalletLeft.parse(content);
    return {
      treasuryId: event.treasury_id,
      dwalletId: event.dwallet_id,
      dwalletCapId: event.dwallet_cap_id,
      owner: event.owner,
      recipient: event.recipient,
    };
  });
}

/** A capability that a dWallet's owner has taken out of a Treasury. */
interface DWalletExit {
  readonly treasuryId: string;
  readonly dwalletId: string;
  readonly dwalletCapId: string;
  readonly owner: string;
  readonly recipient: string;
}

/** Returns the dWallets whose release a transaction forbade, from its events. */
export function refusedReleases(
  events: readonly { readonly type: string; readonly bcs: Uint8Array }[],
): { readonly treasuryId: string; readonly dwalletId: string }[] {
  return ofType(events, "ReleaseRefused").map((content) => {
    const { treasury_id: treasuryId, dwallet_id: dwalletId } = ReleaseRefused.parse(content);
    return { treasuryId, dwalletId };
  });
}

const DWalletLeft = bcs.struct("DWalletLeft", {
  treasury_id: Address,
  dwallet_id: Address,
  dwallet_cap_id: Address,
  owner: Address,
  recipient: Address,
});
const ReleaseRefused = bcs.struct("ReleaseRefused", {
  treasury_id: Address,
  dwallet_id: Address,
  owner: Address,
});

function ofType(
  events: readonly { readonly type: string; readonly bcs: Uint8Array }[],
  name: string,
): Uint8Array[] {
  return events.filter(({ type }) => type.endsWith(`::custody::${name}`)).map((event) => event.bcs);
}

/** A dWallet owner's consent for the Treasury that holds the dWallet's capability. The owner signs it. */
export interface TreasuryConsent {
  /**
   * - `leave`: the capability goes to the recipient.
   * - `refuse`: the Treasury's administrator can never hand the capability out.
   */
  readonly action: "leave" | "refuse";
  /** The digest of the chain's first checkpoint, 32 bytes. */
  readonly chain: Uint8Array;
  readonly treasuryId: string;
  readonly dwalletId: string;
  /** The address that receives the capability. Absent in a refusal. */
  readonly recipient?: string;
  /** The number of consents that the Treasury has used for the dWallet before this one. */
  readonly nonce: bigint;
  /** The last Sui epoch in which the consent can be used. */
  readonly expiresEpoch: bigint;
}

/**
 * Returns the message that the owner signs with Ed25519: `consent::Consent` of `move/treasury` in BCS. The owner's key
 * is the one that signed the user's encryption key; its Sui address owns the dWallet.
 */
export function treasuryConsentBytes(consent: TreasuryConsent): Uint8Array {
  return Consent.serialize({
    domain: new TextEncoder().encode(DOMAIN),
    action: ACTIONS.indexOf(consent.action),
    chain: consent.chain,
    treasury_id: consent.treasuryId,
    dwallet_id: consent.dwalletId,
    recipient: consent.recipient ?? NOBODY,
    nonce: consent.nonce,
    expires_epoch: consent.expiresEpoch,
  }).toBytes();
}

const DOMAIN = "threshold-signing-service/treasury/consent/1";
/** The actions. An action's position is its number in the message. */
const ACTIONS = ["leave", "refuse"] as const;
const NOBODY = `0x${"00".repeat(32)}`;

const Consent = bcs.struct("Consent", {
  domain: bcs.byteVector(),
  action: bcs.u8(),
  chain: bcs.byteVector(),
  treasury_id: Address,
  dwallet_id: Address,
  recipient: Address,
  nonce: U64,
  expires_epoch: U64,
});
