import {
  balanceOf,
  type ExecutionState,
  setBalance,
  type WorkingObject,
} from "../../fullnode/execution/execution-state.ts";
import { moveAbort } from "../../fullnode/execution/failures.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { abortSessions, MISSING_PROTOCOL_PRICING } from "./aborts.ts";
import { readInner, updateInner } from "./coordinator-state.ts";
import { networkPricing, type PricingEntry } from "./prices.ts";

/** Takes the exact price of a session from the coins. Aborts when there is no price or the coins are too small. */
export function chargeSession(
  state: ExecutionState,
  addresses: NetworkAddresses,
  key: { readonly curve: number; readonly signatureAlgorithm: number | undefined; readonly protocol: number },
  payment: PaymentCoins,
): Charge {
  const { pricing_and_fee_manager: manager } = readInner(state, addresses);
  const isPrice = (item: PricingEntry): boolean =>
    item.key.curve === key.curve &&
    item.key.protocol === key.protocol &&
    item.key.signature_algorithm === (key.signatureAlgorithm ?? null);
  // The map of a network that an older version made lacks the prices of the calls that it did not have.
  const entry = manager.current.pricing_map.contents.find(isPrice) ?? networkPricing().find(isPrice);
  if (entry === undefined) {
    const location = `${addresses.dwalletPackageId}::pricing_and_fee_manager::get_pricing_value_for_protocol`;
    throw moveAbort(location, MISSING_PROTOCOL_PRICING);
  }
  const ika = BigInt(entry.value.fee_ika);
  const sui = BigInt(entry.value.gas_fee_reimbursement_sui);
  const systemSui = BigInt(entry.value.gas_fee_reimbursement_sui_for_system_calls);
  const ikaBalance = balanceOf(state, payment.ika);
  const suiBalance = balanceOf(state, payment.sui);
  const functionName = "initiate_user_session";
  if (ikaBalance < ika) abortSessions(addresses.dwalletPackageId, functionName, "InsufficientIkaPayment");
  if (suiBalance < sui + systemSui) {
    abortSessions(addresses.dwalletPackageId, functionName, "InsufficientSuiPayment");
  }
  setBalance(state, payment.ika, ikaBalance - ika);
  setBalance(state, payment.sui, suiBalance - sui - systemSui);
  updateInner(state, addresses, (inner) => {
    const fees = inner.pricing_and_fee_manager;
    const held = fees.gas_fee_reimbursement_sui_system_call_balance;
    held.value = (BigInt(held.value) + systemSui).toString();
  });
  return { ika, sui };
}

export interface PaymentCoins {
  readonly ika: WorkingObject;
  readonly sui: WorkingObject;
}

/** The amounts charged for one session, in the smallest units. */
export interface Charge {
  readonly ika: bigint;
  readonly sui: bigint;
}
