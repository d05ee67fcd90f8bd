import { bcs } from "@mysten/sui/bcs";
import { U64 } from "../../../protocol/chain/fast-bcs.ts";
import {
  borrowed,
  borrowedMut,
  bytes,
  type MoveFunction,
  moveFunction,
  moveId,
  objectValue,
  plainValue,
} from "../../fullnode/execution/move-function.ts";
import { findObject, idName } from "../../fullnode/objects/dynamic-fields.ts";
import { COORDINATOR_VERSION, type NetworkAddresses } from "../addresses.ts";
import { coordinatorTypes, dwalletObject, readInner } from "./coordinator-state.ts";
import { PricingInfo } from "./prices.ts";
import { registerSessionIdentifier } from "./sessions.ts";

/** Returns the call that registers session identifiers, and the coordinator's view functions. */
export function sessionAndViewFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const coordinator = { packageId: addresses.dwalletPackageId, module: "coordinator" } as const;
  const dwalletType = types.inner("DWallet");
  const pricingType = `${addresses.dwalletPackageId}::pricing::PricingInfo`;
  return [
    moveFunction({
      ...coordinator,
      name: "register_session_identifier",
      parameters: [borrowedMut(types.coordinator), bytes],
      returns: [types.sessions("SessionIdentifier")],
      run: ({ state, sender }, _coordinator, identifier) => [
        objectValue(registerSessionIdentifier(state, addresses, sender, identifier)),
      ],
    }),
    moveFunction({
      ...coordinator,
      name: "has_dwallet",
      parameters: [borrowed(types.coordinator), moveId],
      returns: ["bool"],
      run({ state }, _coordinator, dwalletId) {
        const found =
          findObject(state, readInner(state, addresses).dwallets, idName(dwalletId)) !== undefined;
        return [plainValue("bool", bcs.bool().serialize(found).toBytes())];
      },
    }),
    moveFunction({
      ...coordinator,
      name: GET_DWALLET,
      parameters: [borrowed(types.coordinator), moveId],
      returns: [`&${dwalletType}`],
      run({ state }, _coordinator, dwalletId) {
        const object = dwalletObject(state, addresses, dwalletId, GET_DWALLET);
        // Move returns a reference. A simulation shows the dWallet's contents in its place.
        const contents = state.contents(object);
        return [{ kind: "data", type: dwalletType, bytes: contents, copyable: false, droppable: true }];
      },
    }),
    moveFunction({
      ...coordinator,
      name: "current_pricing",
      parameters: [borrowed(types.coordinator)],
      returns: [pricingType],
      run({ state }) {
        const { current } = readInner(state, addresses).pricing_and_fee_manager;
        return [plainValue(pricingType, PricingInfo.serialize(current.pricing_map).toBytes())];
      },
    }),
    moveFunction({
      ...coordinator,
      name: "version",
      parameters: [borrowed(types.coordinator)],
      returns: ["u64"],
      run: () => [plainValue("u64", U64.serialize(COORDINATOR_VERSION).toBytes())],
    }),
  ];
}

const GET_DWALLET = "get_dwallet";
