import { CoordinatorInnerModule } from "@ika.xyz/sdk";
import type { ExecutionState, WorkingObject } from "../../../fullnode/execution/execution-state.ts";
import {
  borrowed,
  borrowedMut,
  bytes,
  type MoveFunction,
  moveFunction,
  u32,
} from "../../../fullnode/execution/move-function.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import { abortInner } from "../aborts.ts";
import { activeDwallet, checkNetworkKey, coordinatorTypes } from "../coordinator-state.ts";
import { checkHash } from "../support.ts";

const { DWalletCap, ImportedKeyDWalletCap, MessageApproval } = CoordinatorInnerModule;

/** Returns the calls that approve a message: one for dWallets of a DKG, one for imported keys. */
export function approvalFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const approval = (name: string, capName: string, approvalName: string, approve: typeof approveMessage) =>
    moveFunction({
      packageId: addresses.dwalletPackageId,
      module: "coordinator",
      name,
      parameters: [borrowedMut(types.coordinator), borrowed(types.inner(capName)), u32, u32, bytes],
      returns: [types.inner(approvalName)],
      run({ state }, _coordinator, cap, signatureAlgorithm, hashScheme, message) {
        const approved = approve(state, addresses, cap, signatureAlgorithm, hashScheme, message);
        const contents = MessageApproval.serialize(approved).toBytes();
        const type = types.inner(approvalName);
        // An approval may be dropped but not copied, because it approves one signature.
        return [{ kind: "data", type, bytes: contents, copyable: false, droppable: true }];
      },
    });
  return [
    approval("approve_message", "DWalletCap", "MessageApproval", approveMessage),
    approval(
      "approve_imported_key_message",
      "ImportedKeyDWalletCap",
      "ImportedKeyMessageApproval",
      approveImportedKeyMessage,
    ),
  ];
}

/** An approval as the SDK decodes it. Both types have these fields. */
export type Approval = typeof CoordinatorInnerModule.MessageApproval.$inferType;

/** Approves one signature over `message` by the dWallet of the cap, which must be active. */
export function approveMessage(
  state: ExecutionState,
  addresses: NetworkAddresses,
  cap: WorkingObject,
  signatureAlgorithm: number,
  hashScheme: number,
  message: Uint8Array,
): Approval {
  const { dwallet_id } = state.read(cap, DWalletCap);
  const key = { functionName: "approve_message", dwalletId: dwallet_id, signatureAlgorithm, hashScheme };
  if (isImportedKey(state, addresses, key))
    abortInner(addresses.dwalletPackageId, key.functionName, "ImportedKeyDWallet");
  return approval(key, message);
}

/** Approves one signature over `message` by the imported key of the cap, which must be active. */
export function approveImportedKeyMessage(
  state: ExecutionState,
  addresses: NetworkAddresses,
  cap: WorkingObject,
  signatureAlgorithm: number,
  hashScheme: number,
  message: Uint8Array,
): Approval {
  const { dwallet_id } = state.read(cap, ImportedKeyDWalletCap);
  const functionName = "approve_imported_key_message";
  const key = { functionName, dwalletId: dwallet_id, signatureAlgorithm, hashScheme };
  if (!isImportedKey(state, addresses, key))
    abortInner(addresses.dwalletPackageId, functionName, "NotImportedKeyDWallet");
  return approval(key, message);
}

interface ApprovedKey {
  readonly functionName: string;
  readonly dwalletId: string;
  readonly signatureAlgorithm: number;
  readonly hashScheme: number;
}

/** Checks that the dWallet is active and that the network supports the combination. */
function isImportedKey(state: ExecutionState, addresses: NetworkAddresses, key: ApprovedKey): boolean {
  const { functionName } = key;
  const { dwallet } = activeDwallet(state, addresses, key.dwalletId, functionName);
  checkHash(state, addresses, dwallet.curve, key.signatureAlgorithm, key.hashScheme);
  const networkKeyId = dwallet.dwallet_network_encryption_key_id;
  checkNetworkKey(state, addresses, networkKeyId, dwallet.curve, functionName);
  return dwallet.is_imported_key_dwallet;
}

function approval({ dwalletId, signatureAlgorithm, hashScheme }: ApprovedKey, message: Uint8Array): Approval {
  return {
    dwallet_id: dwalletId,
    signature_algorithm: signatureAlgorithm,
    hash_scheme: hashScheme,
    message: Array.from(message),
  };
}
