import { balanceOf } from "../../fullnode/execution/execution-state.ts";
import {
  borrowedMut,
  type MoveFunction,
  moveFunction,
  owned,
} from "../../fullnode/execution/move-function.ts";
import { coinObjectType, SUI_TYPE } from "../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { coordinatorTypes, updateInner } from "./coordinator-state.ts";

/** Returns the calls with which anyone gives coins to the network. */
export function subsidyFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const subsidize = (name: string, coinType: string, field: SubsidizedBalance) =>
    moveFunction({
      packageId: addresses.dwalletPackageId,
      module: "coordinator",
      name,
      parameters: [borrowedMut(types.coordinator), owned(coinObjectType(coinType))],
      run({ state }, _coordinator, coin) {
        const amount = balanceOf(state, coin);
        state.remove(coin);
        updateInner(state, addresses, ({ pricing_and_fee_manager: fees }) => {
          fees[field].value = (BigInt(fees[field].value) + amount).toString();
        });
      },
    });
  return [
    subsidize("subsidize_coordinator_with_sui", SUI_TYPE, "gas_fee_reimbursement_sui_system_call_balance"),
    subsidize("subsidize_coordinator_with_ika", addresses.ikaCoinType, "fee_charged_ika"),
  ];
}

type SubsidizedBalance = "gas_fee_reimbursement_sui_system_call_balance" | "fee_charged_ika";
