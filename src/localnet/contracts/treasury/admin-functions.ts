import { createCoin } from "../../fullnode/execution/execution-state.ts";
import {
  address,
  bool,
  type MoveFunction,
  moveId,
  u8,
  u32,
  u64,
} from "../../fullnode/execution/move-function.ts";
import { addField, fieldValue, removeField } from "../../fullnode/objects/dynamic-fields.ts";
import { coinObjectType, SUI_COIN_TYPE } from "../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { addOperator, renewOperator, revokeOperator } from "./operators.ts";
import { offerAdmin, setPaused, setRoles, withdrawAdminOffer } from "./roles.ts";
import { abortTreasury } from "./treasury-aborts.ts";
import { adminFunction } from "./treasury-call.ts";
import { emitTreasury } from "./treasury-events.ts";
import {
  addBalances,
  Ceiling,
  ceilingName,
  treasuryOf,
  treasuryType,
  updateTreasury,
} from "./treasury-state.ts";

/** Returns the administrator's calls about operators, prices, funds and roles. */
export function adminFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  return [
    adminFunction(addresses, {
      name: "new_operator",
      parameters: [address, u64, u64, u64, u64, u64, u64],
      run(call, holder, expiresEpoch, ...limits) {
        addOperator(call, holder, expiresEpoch, amountsOf(limits));
      },
    }),
    adminFunction(addresses, {
      name: "renew_operator",
      parameters: [moveId, u64, u64, u64, u64, u64, u64],
      run(call, operatorCapId, expiresEpoch, ...limits) {
        renewOperator(call, operatorCapId, expiresEpoch, amountsOf(limits));
      },
    }),
    adminFunction(addresses, {
      name: "revoke_operator",
      parameters: [moveId],
      run: revokeOperator,
    }),
    adminFunction(addresses, {
      name: "set_ceiling",
      parameters: [u8, u32, u32, u64, u64],
      run(call, op, curve, signature_algorithm, ika, sui) {
        const name = ceilingName(addresses, op, curve, signature_algorithm);
        const valueType = treasuryType(addresses, "treasury::Ceiling");
        updateTreasury(call, ({ ceilings }) => {
          if (fieldValue(call.state, ceilings, name) !== undefined) removeField(call.state, ceilings, name);
          addField(call.state, ceilings, name, valueType, Ceiling.serialize({ ika, sui }).toBytes());
        });
        emitTreasury(call, "treasury::CeilingSet", { op, curve, signature_algorithm, ika, sui });
      },
    }),
    adminFunction(addresses, {
      name: "set_paused",
      parameters: [bool],
      run: setPaused,
    }),
    adminFunction(addresses, {
      name: "drain",
      parameters: [u64, u64, address],
      run(call, ika, sui, to) {
        const { state } = call;
        const value = treasuryOf(call);
        if (BigInt(value.ika) < ika || BigInt(value.sui) < sui)
          abortTreasury(call, "treasury::drain", "treasury:Insufficient");
        emitTreasury(call, "treasury::Drained", { to, ika, sui });
        addBalances(call, -ika, -sui);
        const owner = { kind: "address", address: to } as const;
        createCoin(state, coinObjectType(addresses.ikaCoinType), ika).owner = owner;
        createCoin(state, SUI_COIN_TYPE, sui).owner = owner;
      },
    }),
    adminFunction(addresses, {
      name: "set_roles",
      parameters: [address, address],
      run: setRoles,
    }),
    adminFunction(addresses, {
      name: "offer_admin",
      parameters: [address],
      run: offerAdmin,
    }),
    adminFunction(addresses, {
      name: "withdraw_admin_offer",
      parameters: [],
      run: withdrawAdminOffer,
    }),
  ];
}

function amountsOf(limits: readonly bigint[]) {
  const [ika, sui, dkgs, presigns, signs] = limits.map(String) as [string, string, string, string, string];
  return { ika, sui, dkgs, presigns, signs };
}
