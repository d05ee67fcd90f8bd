import { bcs } from "@mysten/sui/bcs";

const Table = bcs.struct("Table", { id: bcs.Address, size: bcs.u64() });

/** `custody::Announcement`: who is to receive something, and from which epoch on. */
const Announcement = bcs.struct("Announcement", { to: bcs.Address, from_epoch: bcs.u64() });

/** `roles::Offer`: who may become the administrator, and from which epoch on. */
const Offer = bcs.struct("Offer", { to: bcs.Address, from_epoch: bcs.u64(), is_recovery: bcs.bool() });

/** `operators::Amounts`: for one epoch, coins in their smallest units and numbers of operations. */
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

/** `custody::DWallet`: what the Treasury knows of a dWallet whose capability it holds. */
export const TreasuryDWallet = bcs.struct("DWallet", {
  curve: bcs.u32(),
  owner: bcs.Address,
  is_refused: bcs.bool(),
  release: bcs.option(Announcement),
});
