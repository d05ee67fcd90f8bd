import { bcs } from "@mysten/sui/bcs";

const Table = bcs.struct("Table", { id: bcs.Address, size: bcs.u64() });

/** `custody::Announcement`: an announced recipient, and the epoch from which on it can receive. */
const Announcement = bcs.struct("Announcement", { to: bcs.Address, from_epoch: bcs.u64() });

/** `roles::Offer`: a proposed administrator, and the epoch from which on it can accept. */
const Offer = bcs.struct("Offer", { to: bcs.Address, from_epoch: bcs.u64(), is_recovery: bcs.bool() });

/** `operators::Amounts`: the amounts of one epoch, coins in their smallest units and numbers of operations. */
export const EpochAmounts = bcs.struct("Amounts", {
  ika: bcs.u64(),
  sui: bcs.u64(),
  dkgs: bcs.u64(),
  presigns: bcs.u64(),
  signs: bcs.u64(),
});

/** `treasury::treasury::Treasury` */
export const TreasuryObject = bcs.struct("Treasury", {
  id: bcs.Address,
  version: bcs.u64(),
  paused: bcs.bool(),
  ika: bcs.u64(),
  sui: bcs.u64(),
  roles: bcs.struct("Roles", {
    admin_cap_id: bcs.Address,
    pauser: bcs.Address,
    recovery: bcs.Address,
    offer: bcs.option(Offer),
  }),
  operators: bcs.vector(
    bcs.struct("Operator", {
      cap_id: bcs.Address,
      holder: bcs.Address,
      expires_epoch: bcs.u64(),
      limits: EpochAmounts,
      epoch: bcs.u64(),
      spent: EpochAmounts,
    }),
  ),
  ceilings: Table,
  custody: bcs.struct("Custody", {
    dwallet_caps: Table,
    presign_caps: Table,
    dwallets: Table,
    nonces: Table,
    announced: bcs.vector(bcs.Address),
    successor: bcs.option(Announcement),
  }),
});

/** `custody::DWallet`: a Treasury's record of a dWallet whose capability it holds. */
export const TreasuryDWallet = bcs.struct("DWallet", {
  curve: bcs.u32(),
  owner: bcs.Address,
  is_refused: bcs.bool(),
  release: bcs.option(Announcement),
});
