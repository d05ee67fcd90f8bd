import type { TreasuryObject } from "../../protocol/treasury-objects.ts";

/** Returns what the Treasury's object says. */
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
  /** Who may spend from it. */
  readonly operators: readonly TreasuryOperator[];
  /** The only AdminCap that counts. */
  readonly adminCapId: string;
  /** The address that may stop all payments; undefined if nobody has the role. */
  readonly pauser: string | undefined;
  /** The address that may replace a lost AdminCap; undefined if nobody has the role. */
  readonly recovery: string | undefined;
  /** Who may become the administrator. */
  readonly adminOffer: TreasuryAnnouncement | undefined;
  /** The Treasury that may take over. */
  readonly successor: TreasuryAnnouncement | undefined;
  /** The dWallets whose release by the administrator is announced. */
  readonly announcedDWalletIds: readonly string[];
}

/** An OperatorCap and what it may spend. */
export interface TreasuryOperator {
  readonly capId: string;
  /** The only address that may use the cap. */
  readonly holder: string;
  /** The last Sui epoch in which the cap may be used. */
  readonly expiresEpoch: bigint;
  /** For one epoch. */
  readonly limits: OperatorAmounts;
  /** The epoch that `spent` counts. In a later one, nothing is spent. */
  readonly spentEpoch: bigint;
  readonly spent: OperatorAmounts;
}

/** Coins in their smallest units, and numbers of operations. */
export interface OperatorAmounts extends TreasuryBalances {
  readonly dkgs: bigint;
  readonly presigns: bigint;
  readonly signs: bigint;
}

/** What will be handed over, to which address, and from which Sui epoch on. */
export interface TreasuryAnnouncement {
  readonly to: string;
  readonly fromEpoch: bigint;
}

/** For how many epochs, from its first one on, the administrator may act on an announced release or successor. */
export const ANNOUNCEMENT_WINDOW = 14n;

/** Returns what an operator has spent in an epoch that is not before the last payment. */
export function spentIn({ spentEpoch, spent }: TreasuryOperator, epoch: bigint): OperatorAmounts {
  return spentEpoch === epoch ? spent : { ika: 0n, sui: 0n, dkgs: 0n, presigns: 0n, signs: 0n };
}

function amountsOf(amounts: Readonly<Record<keyof OperatorAmounts, string>>): OperatorAmounts {
  const { ika, sui, dkgs, presigns, signs } = amounts;
  return {
    ...{ ika: BigInt(ika), sui: BigInt(sui) },
    ...{ dkgs: BigInt(dkgs), presigns: BigInt(presigns), signs: BigInt(signs) },
  };
}

/** The Treasury knows nobody as the zero address. */
function roleOf(address: string): string | undefined {
  return /^0x0+$/.test(address) ? undefined : address;
}

function announcementOf(
  announced: { readonly to: string; readonly from_epoch: string } | null,
): TreasuryAnnouncement | undefined {
  return announced === null ? undefined : { to: announced.to, fromEpoch: BigInt(announced.from_epoch) };
}
