import type { TreasuryObject } from "../../../protocol/chain/treasury-custody.ts";

/** Converts the Treasury's object. */
export function treasuryState(object: typeof TreasuryObject.$inferType): TreasuryState {
  const { version, paused, operators, roles, custody, ika, sui } = object;
  return {
    version: BigInt(version),
    isPaused: paused,
    operators: operators.map((operator) => ({
      capId: operator.cap_id,
      holder: operator.holder,
      expiresEpoch: BigInt(operator.expires_epoch),
      limits: amountsOf(operator.limits),
      spentEpoch: BigInt(operator.epoch),
      spent: amountsOf(operator.spent),
    })),
    adminCapId: roles.admin_cap_id,
    pauser: roleOf(roles.pauser),
    recovery: roleOf(roles.recovery),
    adminOffer: announcementOf(roles.offer),
    successor: announcementOf(custody.successor),
    announcedDWalletIds: custody.announced,
    ika: BigInt(ika),
    sui: BigInt(sui),
  };
}

/** The Treasury's balances, in the smallest units. */
export interface TreasuryBalances {
  readonly ika: bigint;
  readonly sui: bigint;
}

/** The state of the Treasury. */
export interface TreasuryState extends TreasuryBalances {
  /** The version of its package. Calls from a package of another version abort. */
  readonly version: bigint;
  /** True if its administrator has stopped all payments. */
  readonly isPaused: boolean;
  /** The OperatorCaps that may spend from it. */
  readonly operators: readonly TreasuryOperator[];
  /** The only valid AdminCap. */
  readonly adminCapId: string;
  /** The address that may stop all payments; undefined if the role is vacant. */
  readonly pauser: string | undefined;
  /** The address that may replace a lost AdminCap; undefined if the role is vacant. */
  readonly recovery: string | undefined;
  /** The offer of the administrator's role, if any. */
  readonly adminOffer: TreasuryAnnouncement | undefined;
  /** The announced successor Treasury, if any. */
  readonly successor: TreasuryAnnouncement | undefined;
  /** The dWallets with an announced release by the administrator. */
  readonly announcedDWalletIds: readonly string[];
}

/** An OperatorCap and its spending limits. */
export interface TreasuryOperator {
  readonly capId: string;
  /** The only address that may use the cap. */
  readonly holder: string;
  /** The last Sui epoch in which the cap may be used. */
  readonly expiresEpoch: bigint;
  /** The limits of one epoch. */
  readonly limits: OperatorAmounts;
  /** The epoch of `spent`. In a later epoch, `spent` starts at zero. */
  readonly spentEpoch: bigint;
  readonly spent: OperatorAmounts;
}

/** Coins in their smallest units, and numbers of operations. */
export interface OperatorAmounts extends TreasuryBalances {
  readonly dkgs: bigint;
  readonly presigns: bigint;
  readonly signs: bigint;
}

/** An announced handover: the receiving address, and the first Sui epoch in which it is allowed. */
export interface TreasuryAnnouncement {
  readonly to: string;
  readonly fromEpoch: bigint;
}

/** How long the administrator may act on an announced release or successor, in epochs from `fromEpoch` on. */
export const ANNOUNCEMENT_WINDOW = 14n;

/** Returns what an operator has spent in an epoch, which must not be before `spentEpoch`. */
export function spentIn({ spentEpoch, spent }: TreasuryOperator, epoch: bigint): OperatorAmounts {
  return spentEpoch === epoch ? spent : { ika: 0n, sui: 0n, dkgs: 0n, presigns: 0n, signs: 0n };
}

function amountsOf(amounts: Readonly<Record<keyof OperatorAmounts, string>>): OperatorAmounts {
  const { ika, sui, dkgs, presigns, signs } = amounts;
  return {
    ika: BigInt(ika),
    sui: BigInt(sui),
    dkgs: BigInt(dkgs),
    presigns: BigInt(presigns),
    signs: BigInt(signs),
  };
}

/** The zero address stands for a vacant role. */
function roleOf(address: string): string | undefined {
  return /^0x0+$/.test(address) ? undefined : address;
}

function announcementOf(
  announced: { readonly to: string; readonly from_epoch: string } | null,
): TreasuryAnnouncement | undefined {
  return announced === null ? undefined : { to: announced.to, fromEpoch: BigInt(announced.from_epoch) };
}

/** Returns an operator's remaining epochs and the largest used share of its limits in an epoch. */
export function operatorUse(operator: TreasuryOperator, epoch: bigint): OperatorUse {
  const spent = spentIn(operator, epoch);
  let usedShare = 0;
  for (const [name, limit] of Object.entries(operator.limits) as [keyof OperatorAmounts, bigint][])
    if (limit > 0n) usedShare = Math.max(usedShare, Number(spent[name]) / Number(limit));
  return { epochsLeft: operator.expiresEpoch - epoch, usedShare };
}

/** The use of an operator. */
interface OperatorUse {
  /** 0 in the last epoch in which it may be used, negative afterwards. */
  readonly epochsLeft: bigint;
  /** The largest used share of a limit, 0 to 1. A limit of 0 does not count, because it forbids the operation. */
  readonly usedShare: number;
}

/** An operator that has fewer epochs left should be renewed. */
export const FEW_EPOCHS = 7n;
/** An operator that has used a greater share of a limit may stop in this epoch. */
export const MUCH_USED_SHARE = 0.8;
