import { type BcsType, bcs } from "@mysten/sui/bcs";
import { EpochAmounts } from "../../../protocol/chain/treasury-custody.ts";
import type { TreasuryCall } from "./treasury-state.ts";
import { treasuryType } from "./treasury-state.ts";

/**
 * A dWallet was requested and paid. `request_ref` is the service's own reference. Amounts in all events are in the
 * smallest units.
 */
export const DkgPaid = bcs.struct("DkgPaid", {
  treasury_id: bcs.Address,
  operator_cap_id: bcs.Address,
  dwallet_id: bcs.Address,
  dwallet_cap_id: bcs.Address,
  curve: bcs.u32(),
  owner: bcs.Address,
  ika: bcs.u64(),
  sui: bcs.u64(),
  request_ref: bcs.byteVector(),
});

export const PresignPaid = bcs.struct("PresignPaid", {
  treasury_id: bcs.Address,
  operator_cap_id: bcs.Address,
  presign_id: bcs.Address,
  curve: bcs.u32(),
  signature_algorithm: bcs.u32(),
  ika: bcs.u64(),
  sui: bcs.u64(),
});

/** A signature was requested and paid; `request_ref` is the service's own reference. */
export const SignPaid = bcs.struct("SignPaid", {
  treasury_id: bcs.Address,
  operator_cap_id: bcs.Address,
  sign_id: bcs.Address,
  dwallet_id: bcs.Address,
  presign_id: bcs.Address,
  ika: bcs.u64(),
  sui: bcs.u64(),
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
  "treasury::PresignPaid": PresignPaid,
  "treasury::SignPaid": SignPaid,
  "treasury::TreasuryCreated": event({ admin_cap_id: bcs.Address, holder: bcs.Address }),
  "treasury::Deposited": event({ from: bcs.Address, ika: bcs.u64(), sui: bcs.u64() }),
  "treasury::Drained": event({ to: bcs.Address, ika: bcs.u64(), sui: bcs.u64() }),
  "treasury::CeilingSet": event({
    op: bcs.u8(),
    curve: bcs.u32(),
    signature_algorithm: bcs.u32(),
    ika: bcs.u64(),
    sui: bcs.u64(),
  }),
  "treasury::PauseSet": event({ paused: bcs.bool(), by: bcs.Address }),
  "treasury::Migrated": event({ from: bcs.u64(), to: bcs.u64() }),
  "operators::OperatorSet": event({
    operator_cap_id: bcs.Address,
    holder: bcs.Address,
    expires_epoch: bcs.u64(),
    limits: EpochAmounts,
  }),
  "operators::OperatorRevoked": event({ operator_cap_id: bcs.Address }),
  "roles::RolesSet": event({ pauser: bcs.Address, recovery: bcs.Address }),
  "roles::AdminOffered": event({ to: bcs.Address, from_epoch: bcs.u64(), is_recovery: bcs.bool() }),
  "roles::AdminOfferWithdrawn": event({}),
  "roles::AdminReplaced": event({ admin_cap_id: bcs.Address, holder: bcs.Address }),
  "custody::DWalletLeft": event({
    dwallet_id: bcs.Address,
    dwallet_cap_id: bcs.Address,
    owner: bcs.Address,
    recipient: bcs.Address,
  }),
  "custody::ReleaseRefused": event({ dwallet_id: bcs.Address, owner: bcs.Address }),
  "custody::ReleaseAnnounced": event({
    dwallet_id: bcs.Address,
    owner: bcs.Address,
    recipient: bcs.Address,
    from_epoch: bcs.u64(),
  }),
  "custody::ReleaseWithdrawn": event({ dwallet_id: bcs.Address }),
  "custody::DWalletReleased": event({
    dwallet_id: bcs.Address,
    dwallet_cap_id: bcs.Address,
    owner: bcs.Address,
    recipient: bcs.Address,
  }),
  "custody::PresignReleased": event({
    presign_id: bcs.Address,
    presign_cap_id: bcs.Address,
    recipient: bcs.Address,
  }),
  "custody::SuccessorAnnounced": event({ successor: bcs.Address, from_epoch: bcs.u64() }),
  "custody::SuccessorWithdrawn": event({}),
  "custody::DWalletMoved": event({
    dwallet_id: bcs.Address,
    dwallet_cap_id: bcs.Address,
    curve: bcs.u32(),
    owner: bcs.Address,
    successor: bcs.Address,
  }),
  "custody::PresignMoved": event({
    presign_id: bcs.Address,
    presign_cap_id: bcs.Address,
    successor: bcs.Address,
  }),
  "custody::DWalletTakenIn": event({
    dwallet_id: bcs.Address,
    dwallet_cap_id: bcs.Address,
    curve: bcs.u32(),
    owner: bcs.Address,
  }),
  "custody::PresignTakenIn": event({ presign_id: bcs.Address, presign_cap_id: bcs.Address }),
};

// biome-ignore lint/suspicious/noExplicitAny: the input and the output of a BCS type differ
function event<F extends Record<string, BcsType<any>>>(fields: F) {
  return bcs.struct("Event", { treasury_id: bcs.Address, ...fields });
}
