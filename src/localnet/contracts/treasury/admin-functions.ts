import { bcs } from "@mysten/sui/bcs";
import { addField, fieldValue, findObject, idName, removeField } from "../../fullnode/dynamic-fields.ts";
import { balanceOf, createCoin } from "../../fullnode/execution-state.ts";
import {
  address,
  bool,
  borrowed,
  borrowedMut,
  type MoveFunction,
  moveFunction,
  moveId,
  owned,
  u8,
  u32,
  u64,
} from "../../fullnode/move-function.ts";
import { objectValue, plainValue } from "../../fullnode/move-value.ts";
import { coinObjectType, SUI_COIN_TYPE } from "../../fullnode/sui-types.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { CeilingSet, Deposited, Drained, Migrated, OperatorSet, PauseSet } from "./treasury-events.ts";
import {
  abortTreasury,
  addBalances,
  assertAdmin,
  assertOwnAdmin,
  assertVersion,
  Ceiling,
  ceilingName,
  emitTreasury,
  TREASURY_VERSION,
  Treasury,
  TreasuryCap,
  treasuryType,
} from "./treasury-state.ts";

/** The calls of the Treasury's administrator. */
export function adminFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const admin = [
    borrowedMut(treasuryType(addresses, "Treasury")),
    borrowed(treasuryType(addresses, "AdminCap")),
  ] as const;
  const treasury = { packageId: addresses.treasuryPackageId, module: "treasury" } as const;
  return [
    moveFunction({
      ...treasury,
      name: "new_operator",
      parameters: admin,
      returns: [treasuryType(addresses, "OperatorCap")],
      run({ state }, self, cap) {
        assertAdmin(state, addresses, self, cap);
        const id = state.newId();
        const contents = TreasuryCap.serialize({ id, treasury_id: self.id }).toBytes();
        const operator = state.create({ id, type: treasuryType(addresses, "OperatorCap"), contents });
        state.update(self, Treasury, (value) => {
          value.operators.push(id);
        });
        const event = OperatorSet.serialize({ treasury_id: self.id, operator_cap_id: id, authorised: true });
        emitTreasury(state, addresses, "OperatorSet", event);
        return [objectValue(operator)];
      },
    }),
    moveFunction({
      ...treasury,
      name: "revoke_operator",
      parameters: [...admin, moveId],
      run({ state }, self, cap, operatorCapId) {
        assertAdmin(state, addresses, self, cap);
        if (!state.read(self, Treasury).operators.includes(operatorCapId)) {
          abortTreasury(addresses, "revoke_operator", "UnknownOperator");
        }
        state.update(self, Treasury, (value) => {
          value.operators = value.operators.filter((id) => id !== operatorCapId);
        });
        const ids = { treasury_id: self.id, operator_cap_id: operatorCapId };
        emitTreasury(state, addresses, "OperatorSet", OperatorSet.serialize({ ...ids, authorised: false }));
      },
    }),
    moveFunction({
      ...treasury,
      name: "set_ceiling",
      parameters: [...admin, u8, u32, u32, u64, u64],
      run({ state }, self, cap, op, curve, algorithm, ika, sui) {
        assertAdmin(state, addresses, self, cap);
        const name = ceilingName(addresses, op, curve, algorithm);
        const valueType = treasuryType(addresses, "Ceiling");
        state.update(self, Treasury, ({ ceilings }) => {
          if (fieldValue(state, ceilings, name) !== undefined) removeField(state, ceilings, name);
          addField(state, ceilings, name, valueType, Ceiling.serialize({ ika, sui }).toBytes());
        });
        const key = { treasury_id: self.id, op, curve, signature_algorithm: algorithm };
        emitTreasury(state, addresses, "CeilingSet", CeilingSet.serialize({ ...key, ika, sui }));
      },
    }),
    moveFunction({
      ...treasury,
      name: "set_paused",
      parameters: [...admin, bool],
      run({ state }, self, cap, paused) {
        assertAdmin(state, addresses, self, cap);
        state.update(self, Treasury, (value) => {
          value.paused = paused;
        });
        emitTreasury(state, addresses, "PauseSet", PauseSet.serialize({ treasury_id: self.id, paused }));
      },
    }),
    moveFunction({
      ...treasury,
      name: "drain",
      parameters: [...admin, u64, u64, address],
      run({ state }, self, cap, ika, sui, to) {
        assertAdmin(state, addresses, self, cap);
        const value = state.read(self, Treasury);
        if (BigInt(value.ika) < ika || BigInt(value.sui) < sui)
          abortTreasury(addresses, "drain", "Insufficient");
        emitTreasury(state, addresses, "Drained", Drained.serialize({ treasury_id: self.id, to, ika, sui }));
        addBalances(state, self, -ika, -sui);
        createCoin(state, coinObjectType(addresses.ikaCoinType), ika).owner = {
          kind: "address",
          address: to,
        };
        createCoin(state, SUI_COIN_TYPE, sui).owner = { kind: "address", address: to };
      },
    }),
    moveFunction({
      ...treasury,
      name: "migrate",
      parameters: admin,
      run({ state }, self, cap) {
        assertOwnAdmin(state, addresses, self, cap);
        const from = BigInt(state.read(self, Treasury).version);
        if (from >= TREASURY_VERSION) abortTreasury(addresses, "migrate", "NothingToMigrate");
        state.update(self, Treasury, (value) => {
          value.version = TREASURY_VERSION.toString();
        });
        const event = Migrated.serialize({ treasury_id: self.id, from, to: TREASURY_VERSION });
        emitTreasury(state, addresses, "Migrated", event);
      },
    }),
  ];
}

/** The Treasury calls that are open to anyone: deposits and reads. */
export function publicFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const type = treasuryType(addresses, "Treasury");
  const treasury = { packageId: addresses.treasuryPackageId, module: "treasury" } as const;
  const u64Value = (value: string) => plainValue("u64", bcs.u64().serialize(value).toBytes());
  const boolValue = (value: boolean) => plainValue("bool", bcs.bool().serialize(value).toBytes());
  return [
    moveFunction({
      ...treasury,
      name: "deposit",
      parameters: [borrowedMut(type), owned(coinObjectType(addresses.ikaCoinType)), owned(SUI_COIN_TYPE)],
      run({ state, sender }, self, ikaCoin, suiCoin) {
        assertVersion(state, addresses, self);
        const ika = balanceOf(state, ikaCoin);
        const sui = balanceOf(state, suiCoin);
        const event = Deposited.serialize({ treasury_id: self.id, from: sender, ika, sui });
        emitTreasury(state, addresses, "Deposited", event);
        addBalances(state, self, ika, sui);
        state.remove(ikaCoin);
        state.remove(suiCoin);
      },
    }),
    moveFunction({
      ...treasury,
      name: "balances",
      parameters: [borrowed(type)],
      returns: ["u64", "u64"],
      run({ state }, self) {
        const { ika, sui } = state.read(self, Treasury);
        return [u64Value(ika), u64Value(sui)];
      },
    }),
    moveFunction({
      ...treasury,
      name: "has_dwallet",
      parameters: [borrowed(type), moveId],
      returns: ["bool"],
      run({ state }, self, id) {
        return [
          boolValue(findObject(state, state.read(self, Treasury).dwallet_caps, idName(id)) !== undefined),
        ];
      },
    }),
    moveFunction({
      ...treasury,
      name: "has_presign",
      parameters: [borrowed(type), moveId],
      returns: ["bool"],
      run({ state }, self, id) {
        return [
          boolValue(findObject(state, state.read(self, Treasury).presign_caps, idName(id)) !== undefined),
        ];
      },
    }),
  ];
}
