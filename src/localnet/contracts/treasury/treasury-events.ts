import { bcs } from "@mysten/sui/bcs";

/** A deposit. Amounts in all events are in the smallest units; fields have the order of the Move structs. */
export const Deposited = bcs.struct("Deposited", {
  treasury_id: bcs.Address,
  from: bcs.Address,
  ika: bcs.u64(),
  sui: bcs.u64(),
});

/** A withdrawal by the administrator. */
export const Drained = bcs.struct("Drained", {
  treasury_id: bcs.Address,
  to: bcs.Address,
  ika: bcs.u64(),
  sui: bcs.u64(),
});

/** An operator's cap was authorised or revoked. */
export const OperatorSet = bcs.struct("OperatorSet", {
  treasury_id: bcs.Address,
  operator_cap_id: bcs.Address,
  authorised: bcs.bool(),
});

/** A new price ceiling of an operation. */
export const CeilingSet = bcs.struct("CeilingSet", {
  treasury_id: bcs.Address,
  op: bcs.u8(),
  curve: bcs.u32(),
  signature_algorithm: bcs.u32(),
  ika: bcs.u64(),
  sui: bcs.u64(),
});

/** Payments were paused or resumed. */
export const PauseSet = bcs.struct("PauseSet", { treasury_id: bcs.Address, paused: bcs.bool() });

/** A dWallet's cap left the Treasury. */
export const DWalletReleased = bcs.struct("DWalletReleased", {
  treasury_id: bcs.Address,
  dwallet_id: bcs.Address,
  dwallet_cap_id: bcs.Address,
});

/** A presign's cap left the Treasury. */
export const PresignReleased = bcs.struct("PresignReleased", {
  treasury_id: bcs.Address,
  presign_id: bcs.Address,
  presign_cap_id: bcs.Address,
});

/** The Treasury moved to another version of its package. */
export const Migrated = bcs.struct("Migrated", {
  treasury_id: bcs.Address,
  from: bcs.u64(),
  to: bcs.u64(),
});

/** A dWallet was requested and paid; `request_ref` is the service's own reference. */
export const DkgPaid = bcs.struct("DkgPaid", {
  treasury_id: bcs.Address,
  operator_cap_id: bcs.Address,
  dwallet_id: bcs.Address,
  dwallet_cap_id: bcs.Address,
  curve: bcs.u32(),
  ika: bcs.u64(),
  sui: bcs.u64(),
  request_ref: bcs.byteVector(),
});

/** A presign was requested and paid. */
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
