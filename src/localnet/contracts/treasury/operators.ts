import type { EpochAmounts } from "../../../protocol/chain/treasury-custody.ts";
import type { WorkingObject } from "../../fullnode/execution/execution-state.ts";
import { abortTreasury } from "./treasury-aborts.ts";
import { emitTreasury } from "./treasury-events.ts";
import { giveCap, type TreasuryCall, treasuryOf, updateTreasury } from "./treasury-state.ts";

/** The amounts that an operator may spend, or has spent, in an epoch. */
export type Amounts = typeof EpochAmounts.$inferType;

/** Creates an OperatorCap for an address. */
export function addOperator(call: TreasuryCall, holder: string, expiresEpoch: bigint, limits: Amounts): void {
  const operator_cap_id = giveCap(call, "treasury::OperatorCap", holder);
  if (treasuryOf(call).operators.length >= MAX_OPERATORS)
    abortTreasury(call, "operators::add", "operators:TooMany");
  const expires_epoch = expiresEpoch.toString();
  updateTreasury(call, ({ operators }) => {
    operators.push({ cap_id: operator_cap_id, holder, expires_epoch, limits, epoch: "0", spent: nothing() });
  });
  emitTreasury(call, "operators::OperatorSet", { operator_cap_id, holder, expires_epoch, limits });
}

/** Sets the expiry and the limits of an operator. */
export function renewOperator(
  call: TreasuryCall,
  capId: string,
  expiresEpoch: bigint,
  limits: Amounts,
): void {
  const { holder } = treasuryOf(call).operators[positionOf(call, capId)]!;
  const expires_epoch = expiresEpoch.toString();
  updateTreasury(call, ({ operators }) => {
    Object.assign(operators[positionOf(call, capId)]!, { expires_epoch, limits });
  });
  emitTreasury(call, "operators::OperatorSet", { operator_cap_id: capId, holder, expires_epoch, limits });
}

export function revokeOperator(call: TreasuryCall, capId: string): void {
  const position = positionOf(call, capId);
  updateTreasury(call, ({ operators }) => {
    const last = operators.pop()!;
    if (position < operators.length) operators[position] = last;
  });
  emitTreasury(call, "operators::OperatorRevoked", { operator_cap_id: capId });
}

/** Aborts unless this sender may use the OperatorCap in this epoch. */
export function assertOperator(call: TreasuryCall, cap: WorkingObject): void {
  const { holder, expires_epoch } = treasuryOf(call).operators[positionOf(call, cap.id)]!;
  if (holder !== call.sender) abortTreasury(call, "operators::check", "operators:WrongHolder");
  if (call.epoch > BigInt(expires_epoch)) abortTreasury(call, "operators::check", "operators:Expired");
}

/** Adds amounts to an operator's spending. Aborts if the total exceeds the limits of this epoch. */
export function spend(
  call: TreasuryCall,
  capId: string,
  amounts: Partial<Record<keyof Amounts, bigint>>,
): void {
  const position = positionOf(call, capId);
  updateTreasury(call, ({ operators }) => {
    const operator = operators[position]!;
    if (BigInt(operator.epoch) !== call.epoch) {
      operator.epoch = call.epoch.toString();
      operator.spent = nothing();
    }
    for (const [kind, more] of Object.entries(amounts) as [keyof Amounts, bigint][]) {
      const total = BigInt(operator.spent[kind]) + more;
      if (total > BigInt(operator.limits[kind]))
        abortTreasury(call, "operators::added", "operators:OverLimit");
      operator.spent[kind] = total.toString();
    }
  });
}

const MAX_OPERATORS = 64;

function nothing(): Amounts {
  return { ika: "0", sui: "0", dkgs: "0", presigns: "0", signs: "0" };
}

function positionOf(call: TreasuryCall, capId: string): number {
  const position = treasuryOf(call).operators.findIndex(({ cap_id }) => cap_id === capId);
  return position >= 0 ? position : abortTreasury(call, "operators::position", "operators:UnknownOperator");
}
