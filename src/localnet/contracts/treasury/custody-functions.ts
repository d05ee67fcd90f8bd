import type { WorkingObject } from "../../fullnode/execution/execution-state.ts";
import { moveAbort } from "../../fullnode/execution/failures.ts";
import {
  address,
  type MoveFunction,
  moveId,
  moveIds,
  receiving,
  u32,
} from "../../fullnode/execution/move-function.ts";
import { SUI_FRAMEWORK } from "../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { coordinatorTypes } from "../coordinator/coordinator-state.ts";
import {
  forgetAnnounced,
  handOver,
  heldDWallet,
  keepDWallet,
  keepImportedKey,
  keepPresign,
  takeDWallet,
  takePresign,
  updateDWallet,
} from "./custody.ts";
import { abortTreasury } from "./treasury-aborts.ts";
import { adminFunction } from "./treasury-call.ts";
import { emitTreasury } from "./treasury-events.ts";
import type { TreasuryCall } from "./treasury-state.ts";
import { treasuryOf, updateTreasury } from "./treasury-state.ts";

/** Returns the calls with which the administrator releases capabilities and takes them in. */
export function custodyFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const { inner } = coordinatorTypes(addresses.dwalletPackageId);
  return [
    adminFunction(addresses, {
      name: "announce_release",
      parameters: [moveId, address],
      run(call, dwalletId, recipient) {
        const { is_refused, release, owner } = heldDWallet(call, dwalletId);
        if (is_refused) abortTreasury(call, "custody::announce_release", "custody:Refused");
        if (release !== null) abortTreasury(call, "custody::announce_release", "custody:Announced");
        if (treasuryOf(call).custody.announced.length >= MAX_ANNOUNCED)
          abortTreasury(call, "custody::announce_release", "custody:TooManyAnnounced");
        const from_epoch = (call.epoch + DELAY).toString();
        updateTreasury(call, ({ custody }) => custody.announced.push(dwalletId));
        updateDWallet(call, dwalletId, { release: { to: recipient, from_epoch } });
        const fields = { dwallet_id: dwalletId, owner, recipient, from_epoch };
        emitTreasury(call, "custody::ReleaseAnnounced", fields);
      },
    }),
    adminFunction(addresses, {
      name: "withdraw_release",
      parameters: [moveId],
      run(call, dwalletId) {
        if (heldDWallet(call, dwalletId).release === null)
          abortTreasury(call, "custody::withdraw_release", "custody:NotAnnounced");
        updateDWallet(call, dwalletId, { release: null });
        forgetAnnounced(call, dwalletId);
        emitTreasury(call, "custody::ReleaseWithdrawn", { dwallet_id: dwalletId });
      },
    }),
    adminFunction(addresses, {
      name: "release_dwallet",
      parameters: [moveId],
      run(call, dwalletId) {
        const recipient = due(call, heldDWallet(call, dwalletId).release);
        const { cap, owner } = takeDWallet(call, dwalletId);
        handOver(cap, recipient);
        const fields = { dwallet_id: dwalletId, dwallet_cap_id: cap.id, owner, recipient };
        emitTreasury(call, "custody::DWalletReleased", fields);
      },
    }),
    adminFunction(addresses, {
      name: "release_presign",
      parameters: [moveId, address],
      run(call, presignId, recipient) {
        const cap = takePresign(call, presignId);
        handOver(cap, recipient);
        const fields = { presign_id: presignId, presign_cap_id: cap.id, recipient };
        emitTreasury(call, "custody::PresignReleased", fields);
      },
    }),
    adminFunction(addresses, {
      name: "announce_successor",
      parameters: [address],
      run(call, successor) {
        if (treasuryOf(call).custody.successor !== null)
          abortTreasury(call, "custody::announce_successor", "custody:Announced");
        const from_epoch = (call.epoch + DELAY).toString();
        updateTreasury(call, ({ custody }) => {
          custody.successor = { to: successor, from_epoch };
        });
        emitTreasury(call, "custody::SuccessorAnnounced", { successor, from_epoch });
      },
    }),
    adminFunction(addresses, {
      name: "withdraw_successor",
      parameters: [],
      run(call) {
        if (treasuryOf(call).custody.successor === null)
          abortTreasury(call, "custody::withdraw_successor", "custody:NotAnnounced");
        updateTreasury(call, ({ custody }) => {
          custody.successor = null;
        });
        emitTreasury(call, "custody::SuccessorWithdrawn", {});
      },
    }),
    adminFunction(addresses, {
      name: "move_dwallets",
      parameters: [moveIds],
      run(call, dwalletIds) {
        const successor = due(call, treasuryOf(call).custody.successor);
        for (const dwalletId of dwalletIds.toReversed()) {
          if (heldDWallet(call, dwalletId).is_refused)
            abortTreasury(call, "custody::move_dwallets", "custody:Refused");
          const { cap, curve, owner } = takeDWallet(call, dwalletId);
          handOver(cap, successor);
          const fields = { dwallet_id: dwalletId, dwallet_cap_id: cap.id, curve, owner, successor };
          emitTreasury(call, "custody::DWalletMoved", fields);
        }
      },
    }),
    adminFunction(addresses, {
      name: "move_presigns",
      parameters: [moveIds],
      run(call, presignIds) {
        const successor = due(call, treasuryOf(call).custody.successor);
        for (const presignId of presignIds.toReversed()) {
          const cap = takePresign(call, presignId);
          handOver(cap, successor);
          const fields = { presign_id: presignId, presign_cap_id: cap.id, successor };
          emitTreasury(call, "custody::PresignMoved", fields);
        }
      },
    }),
    adminFunction(addresses, {
      name: "take_in_dwallet",
      parameters: [receiving(inner("DWalletCap")), u32, address],
      run(call, sent, curve, owner) {
        const cap = receive(call.self, sent);
        const dwalletId = keepDWallet(call, cap, curve, owner);
        const fields = { dwallet_id: dwalletId, dwallet_cap_id: cap.id, curve, owner };
        emitTreasury(call, "custody::DWalletTakenIn", fields);
      },
    }),
    adminFunction(addresses, {
      name: "take_in_imported_key",
      parameters: [receiving(inner("ImportedKeyDWalletCap")), u32, address],
      run(call, sent, curve, owner) {
        const cap = receive(call.self, sent);
        const dwalletId = keepImportedKey(call, cap, curve, owner);
        const fields = { dwallet_id: dwalletId, dwallet_cap_id: cap.id, curve, owner };
        emitTreasury(call, "custody::DWalletTakenIn", fields);
      },
    }),
    adminFunction(addresses, {
      name: "take_in_presign",
      parameters: [receiving(inner("UnverifiedPresignCap"))],
      run(call, sent) {
        const cap = receive(call.self, sent);
        const presignId = keepPresign(call, cap);
        emitTreasury(call, "custody::PresignTakenIn", { presign_id: presignId, presign_cap_id: cap.id });
      },
    }),
  ];
}

/** The number of epochs between an announcement and the first epoch in which the administrator may act on it. */
const DELAY = 14n;
/** The number of epochs in which the administrator may then act on it. */
const WINDOW = 14n;
/** The maximum number of releases that are announced at the same time. */
const MAX_ANNOUNCED = 64;

/** Returns the announced recipient. Aborts before the delay has passed, and after the time to act on it. */
function due(
  call: TreasuryCall,
  announced: { readonly to: string; readonly from_epoch: string } | null,
): string {
  if (announced === null) return abortTreasury(call, "custody::due", "custody:NotAnnounced");
  const fromEpoch = BigInt(announced.from_epoch);
  if (call.epoch < fromEpoch) abortTreasury(call, "custody::due", "custody:TooEarly");
  if (call.epoch >= fromEpoch + WINDOW) abortTreasury(call, "custody::due", "custody:TooLate");
  return announced.to;
}

/** Runs `transfer::public_receive`: takes an object that was sent to the parent. Aborts if it was sent elsewhere. */
function receive(parent: WorkingObject, object: WorkingObject): WorkingObject {
  const { owner } = object;
  if (owner?.kind !== "address" || owner.address !== parent.id)
    throw moveAbort(`${SUI_FRAMEWORK}::transfer::receive_impl`, UNABLE_TO_RECEIVE);
  object.owner = undefined;
  object.mutated = true;
  return object;
}

/** `0x2::transfer::EUnableToReceiveObject` */
const UNABLE_TO_RECEIVE = 3;
