import { bcs } from "@mysten/sui/bcs";
import { borrowObject, fieldValue, findObject, idName, removeObject } from "../../fullnode/dynamic-fields.ts";
import type { ExecutionState, WorkingObject } from "../../fullnode/execution-state.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { abortTreasury, Treasury } from "./treasury-state.ts";

/** Returns the caps of a dWallet and a presign from the Treasury, and the dWallet's curve. Aborts when it does not hold them. */
export function heldCaps(
  state: ExecutionState,
  addresses: NetworkAddresses,
  treasury: WorkingObject,
  dwalletId: string,
  presignId: string,
): { dwallet: WorkingObject; curve: number; takePresign(): WorkingObject } {
  const { dwallet_caps, dwallet_curves, presign_caps } = state.read(treasury, Treasury);
  if (findObject(state, dwallet_caps, idName(dwalletId)) === undefined) {
    abortTreasury(addresses, "pay_sign", "UnknownDWallet");
  }
  if (findObject(state, presign_caps, idName(presignId)) === undefined) {
    abortTreasury(addresses, "pay_sign", "UnknownPresign");
  }
  const curve = fieldValue(state, dwallet_curves, idName(dwalletId));
  if (curve === undefined) throw new Error(`the Treasury holds dWallet ${dwalletId} without its curve`);
  return {
    dwallet: borrowObject(state, dwallet_caps, idName(dwalletId)),
    curve: bcs.u32().parse(curve),
    takePresign() {
      let taken: WorkingObject | undefined;
      state.update(treasury, Treasury, (value) => {
        taken = removeObject(state, value.presign_caps, idName(presignId));
      });
      return taken as WorkingObject;
    },
  };
}
