import { bcs } from "@mysten/sui/bcs";

/** Events of `treasury::treasury`, in the order of their Move fields. Amounts are in the smallest units. */
export const Deposited = bcs.struct("Deposited", {
  treasury_id: bcs.Address,
  from: bcs.Address,
  ika: bcs.u64(),
  sui: bcs.u64(),
});

export const Drained = bcs.struct("Drained", {
  treasury_id: bcs.Address,
  to: bcs.Address,
  ika: bcs.u64(),
  sui: bcs.u64(),
});

export const OperatorSet = bcs.struct("OperatorSet", {
  treasury_id: bcs.Address,
  operator_cap_id: bcs.Address,
  authorised: bcs.bool(),
});

export const CeilingSet = bcs.struct("CeilingSet", {
  treasury_id: bcs.Address,
  op: bcs.u8(),
  curve: bcs.u32(),
  signature_algorithm: bcs.u32(),
  ika: bcs.u64(),
  sui: bcs.u64(),
});

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

export const PresignPaid = bcs.struct("PresignPaid", {
  treasury_id: bcs.Address,
  operator_cap_id: bcs.Address,
  presign_id: bcs.Address,
  curve: bcs.u32(),
  signature_algorithm: bcs.u32(),
  ika: bcs.u64(),
  sui: bcs.u64(),
});

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
