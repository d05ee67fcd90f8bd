import { type OperatorAmounts, spentIn, type TreasuryOperator } from "./treasury-state.ts";

/** Returns an operator's remaining epochs and the largest used share of its limits in an epoch. */
export function operatorUse(operator: TreasuryOperator, epoch: bigint): OperatorUse {
  const spent = spentIn(operator, epoch);
  let usedShare = 0;
  for (const [name, limit] of Object.entries(operator.limits) as [keyof OperatorAmounts, bigint][])
    if (limit > 0n) usedShare = Math.max(usedShare, Number(spent[name]) / Number(limit));
  return { epochsLeft: operator.expiresEpoch - epoch, usedShare };
}

/** The use of an operator. */
export interface OperatorUse {
  /** 0 in the last epoch in which it may be used, negative afterwards. */
  readonly epochsLeft: bigint;
  /** The largest used share of a limit, 0 to 1. A limit of 0 does not count, because it forbids the operation. */
  readonly usedShare: number;
}

/** An operator that has fewer epochs left should be renewed. */
export const FEW_EPOCHS = 7n;
/** An operator that has used a greater share of a limit may stop in this epoch. */
export const MUCH_USED_SHARE = 0.8;
