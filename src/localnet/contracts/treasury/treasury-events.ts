import { type BcsType, bcs } from "@mysten/sui/bcs";
import { Address, U64 } from "../../../protocol/chain/fast-bcs.ts";
import { EpochAmounts } from "../../../protocol/chain/treasury-custody.ts";
import type { TreasuryCall } from "./treasury-state.ts";
import { treasuryType } from "./treasury-state.ts";

const NEW_DWALLET = {
  treasury_id: Address,
  operator_cap_id: Address,
  dwallet_id: Address,
  dwallet_cap_id: Address,
  curve: bcs.u32(),
  owner: Address,
  ika: U64,
  sui: U64,
  request_ref: bcs.byteVector(),
};

/**
 * A dWallet was requested and paid. `request_ref` is the service's own reference. Amounts in all events are in the
 * smallest units.
 */
export const DkgPaid = bcs.struct("DkgPaid", NEW_DWALLET);

/** The verification of an imported key was requested and paid. */
export const ImportPaid = bcs.struct("ImportPaid", NEW_DWALLET);

export const PresignPaid = bcs.struct("PresignPaid", {
  treasury_id: Address,
  operator_cap_id: Address,
  presign_id: Address,
  curve: bcs.u32(),
  signature_algorithm: bcs.u32(),
  ika: U64,
  sui: U64,
});

/** A signature was requested and paid; `request_ref` is the service's own reference. */
export const SignPaid = bcs.struct("SignPaid", {
  treasury_id: Address,
  operator_cap_id: Address,
  sign_id: Address,
  dwallet_id: Address,
  presign_id: Address,
  ika: U64,
  sui: U64,
  request_ref: bcs.byteVector(),
});

/** The check of a share for another user was requested and paid. */
export const SharePaid = bcs.struct("SharePaid", {
  treasury_id: Address,
  operator_cap_id: Address,
  dwallet_id: Address,
  recipient: Address,
  ika: U64,
  sui: U64,
  request_ref: bcs.byteVector(),
});

/** The check of a user's half of a signature was requested and paid. */
export const FutureSignPaid = bcs.struct("FutureSignPaid", {
  treasury_id: Address,
  operator_cap_id: Address,
  dwallet_id: Address,
  presign_id: Address,
  ika: U64,
  sui: U64,
  request_ref: bcs.byteVector(),
});

/** Emits an event of the Treasury, whose id is its first field. */
export function emitTreasury<Name extends TreasuryEvent>(
  { state, addresses, self }: Pick<TreasuryCall, "state" | "addresses" | "self">,
  name: Name,
  fields: Omit<(typeof TREASURY_EVENTS)[Name]["$inferInput"], "treasury_id">,
): void {
  const codec: { serialize(value: unknown): { toBytes(): Uint8Array } } = TREASURY_EVENTS[name];
  state.emit({
    packageId: addresses.treasuryPackageId,
    module: name.slice(0, name.indexOf("::")),
    type: treasuryType(addresses, name),
    contents: codec.serialize({ treasury_id: self.id, ...fields }).toBytes(),
  });
}

type TreasuryEvent = keyof typeof TREASURY_EVENTS;

/** The events of the Treasury's package. The fields have the order of the Move structs. */
export const TREASURY_EVENTS = {
  "treasury::DkgPaid": DkgPaid,
  "treasury::ImportPaid": ImportPaid,
  "treasury::PresignPaid": PresignPaid,
  "treasury::SignPaid": SignPaid,
  "treasury::SharePaid": SharePaid,
  "treasury::FutureSignPaid": FutureSignPaid,
  "treasury::TreasuryCreated": event({ admin_cap_id: Address, holder: Address }),
  "treasury::Deposited": event({ from: Address, ika: U64, sui: U64 }),
  "treasury::Drained": event({ to: Address, ika: U64, sui: U64 }),
  "treasury::CeilingSet": event({
    op: bcs.u8(),
    curve: bcs.u32(),
    signature_algorithm: bcs.u32(),
    ika: U64,
    sui: U64,
  }),
  "treasury::PauseSet": event({ paused: bcs.bool(), by: Address }),
  "treasury::Migrated": event({ from: U64, to: U64 }),
  "operators::OperatorSet": event({
    operator_cap_id: Address,
    holder: Address,
    expires_epoch: U64,
    limits: EpochAmounts,
  }),
  "operators::OperatorRevoked": event({ operator_cap_id: Address }),
  "roles::RolesSet": event({ pauser: Address, recovery: Address }),
  "roles::AdminOffered": event({ to: Address, from_epoch: U64, is_recovery: bcs.bool() }),
  "roles::AdminOfferWithdrawn": event({}),
  "roles::AdminReplaced": event({ admin_cap_id: Address, holder: Address }),
  "custody::DWalletLeft": event({
    dwallet_id: Address,
    dwallet_cap_id: Address,
    owner: Address,
    recipient: Address,
  }),
  "custody::ReleaseRefused": event({ dwallet_id: Address, owner: Address }),
  "custody::ReleaseAnnounced": event({
    dwallet_id: Address,
    owner: Address,
    recipient: Address,
    from_epoch: U64,
  }),
  "custody::ReleaseWithdrawn": event({ dwallet_id: Address }),
  "custody::DWalletReleased": event({
    dwallet_id: Address,
    dwallet_cap_id: Address,
    owner: Address,
    recipient: Address,
  }),
  "custody::PresignReleased": event({
    presign_id: Address,
    presign_cap_id: Address,
    recipient: Address,
  }),
  "custody::SuccessorAnnounced": event({ successor: Address, from_epoch: U64 }),
  "custody::SuccessorWithdrawn": event({}),
  "custody::DWalletMoved": event({
    dwallet_id: Address,
    dwallet_cap_id: Address,
    curve: bcs.u32(),
    owner: Address,
    successor: Address,
  }),
  "custody::PresignMoved": event({
    presign_id: Address,
    presign_cap_id: Address,
    successor: Address,
  }),
  "custody::DWalletTakenIn": event({
    dwallet_id: Address,
    dwallet_cap_id: Address,
    curve: bcs.u32(),
    owner: Address,
  }),
  "custody::PresignTakenIn": event({ presign_id: Address, presign_cap_id: Address }),
};

// biome-ignore lint/suspicious/noExplicitAny: the input and the output of a BCS type differ
function event<F extends Record<string, BcsType<any>>>(fields: F) {
  return bcs.struct("Event", { treasury_id: Address, ...fields });
}
