import { findObject, idName, removeField, removeObject } from "../../fullnode/dynamic-fields.ts";
import type { ExecutionState, WorkingObject } from "../../fullnode/execution-state.ts";
import {
  borrowed,
  borrowedMut,
  type MoveFunction,
  moveFunction,
  moveId,
} from "../../fullnode/move-function.ts";
import { objectValue } from "../../fullnode/move-value.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { coordinatorTypes } from "../coordinator/coordinator-state.ts";
import { DWalletReleased, PresignReleased } from "./treasury-events.ts";
import { abortTreasury, assertAdmin, emitTreasury, Treasury, treasuryType } from "./treasury-state.ts";

/** The calls with which the administrator hands caps out of the Treasury. */
export function releaseFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const { inner } = coordinatorTypes(addresses.dwalletPackageId);
  const treasury = {
    packageId: addresses.treasuryPackageId,
    module: "treasury",
    parameters: [
      borrowedMut(treasuryType(addresses, "Treasury")),
      borrowed(treasuryType(addresses, "AdminCap")),
      moveId,
    ],
  } as const;
  return [
    moveFunction({
      ...treasury,
      name: "release_dwallet",
      returns: [inner("DWalletCap")],
      run({ state }, self, adminCap, dwalletId) {
        assertAdmin(state, addresses, self, adminCap);
        const cap = takeCap(state, self, "dwallet_caps", dwalletId);
        if (cap === undefined) return abortTreasury(addresses, "release_dwallet", "UnknownDWallet");
        state.update(self, Treasury, (value) => removeField(state, value.dwallet_curves, idName(dwalletId)));
        const ids = { treasury_id: self.id, dwallet_id: dwalletId, dwallet_cap_id: cap.id };
        emitTreasury(state, addresses, "DWalletReleased", DWalletReleased.serialize(ids));
        return [objectValue(cap)];
      },
    }),
    moveFunction({
      ...treasury,
      name: "release_presign",
      returns: [inner("UnverifiedPresignCap")],
      run({ state }, self, adminCap, presignId) {
        assertAdmin(state, addresses, self, adminCap);
        const cap = takeCap(state, self, "presign_caps", presignId);
        if (cap === undefined) return abortTreasury(addresses, "release_presign", "UnknownPresign");
        const ids = { treasury_id: self.id, presign_id: presignId, presign_cap_id: cap.id };
        emitTreasury(state, addresses, "PresignReleased", PresignReleased.serialize(ids));
        return [objectValue(cap)];
      },
    }),
  ];
}

/** Takes a cap out of one of the Treasury's tables; undefined if it is not there. */
function takeCap(
  state: ExecutionState,
  treasury: WorkingObject,
  table: "dwallet_caps" | "presign_caps",
  id: string,
): WorkingObject | undefined {
  if (findObject(state, state.read(treasury, Treasury)[table], idName(id)) === undefined) return undefined;
  let taken: WorkingObject | undefined;
  state.update(treasury, Treasury, (value) => {
    taken = removeObject(state, value[table], idName(id));
  });
  return taken;
}
