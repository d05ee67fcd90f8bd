import { CoordinatorInnerModule } from "@ika.xyz/sdk";
import type { ExecutionState } from "../../../fullnode/execution/execution-state.ts";
import {
  borrowedMut,
  bytes,
  type MoveFunction,
  moveFunction,
  moveId,
} from "../../../fullnode/execution/move-function.ts";
import { borrowObject, idName } from "../../../fullnode/objects/dynamic-fields.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import { abortInner } from "../aborts.ts";
import {
  coordinatorTypes,
  DWalletStruct,
  dwalletObject,
  EncryptedShareStruct,
  EncryptionKeyStruct,
  readInner,
} from "../coordinator-state.ts";
import { verifyEd25519WithNode } from "../verify-ed25519-with-node.ts";

/**
 * Returns the call with which the key holder accepts a dWallet. It needs no cap and no payment, and anyone may send it.
 */
export function acceptShareFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  return [
    moveFunction({
      packageId: addresses.dwalletPackageId,
      module: "coordinator",
      name: FUNCTION_NAME,
      parameters: [borrowedMut(types.coordinator), moveId, moveId, bytes],
      run: ({ state }, _coordinator, dwalletId, shareId, signature) =>
        acceptShare(state, addresses, dwalletId, shareId, signature),
    }),
  ];
}

const { AcceptEncryptedUserShareEvent } = CoordinatorInnerModule;
const FUNCTION_NAME = "accept_encrypted_user_share";

function acceptShare(
  state: ExecutionState,
  addresses: NetworkAddresses,
  dwalletId: string,
  shareId: string,
  signature: Uint8Array,
): void {
  const { dwalletPackageId } = addresses;
  const dwalletEntry = dwalletObject(state, addresses, dwalletId, FUNCTION_NAME);
  const dwallet = state.read(dwalletEntry, DWalletStruct);
  const publicOutput = publicOutputOf(dwallet.state);
  if (publicOutput === undefined) abortInner(dwalletPackageId, FUNCTION_NAME, "WrongState");
  const shareEntry = borrowObject(state, dwallet.encrypted_user_secret_key_shares, idName(shareId));
  const share = state.read(shareEntry, EncryptedShareStruct);
  const { encryption_keys } = readInner(state, addresses);
  const keyName = idName(share.encryption_key_address, "address");
  const key = state.read(borrowObject(state, encryption_keys, keyName), EncryptionKeyStruct);
  if (
    !verifyEd25519WithNode(Uint8Array.from(key.signer_public_key), Uint8Array.from(publicOutput), signature)
  ) {
    abortInner(dwalletPackageId, FUNCTION_NAME, "InvalidEncryptionKeySignature");
  }
  if (share.state.$kind !== "NetworkVerificationCompleted") {
    abortInner(dwalletPackageId, FUNCTION_NAME, "WrongState");
  }
  state.update(dwalletEntry, DWalletStruct, (value) => {
    value.state = { $kind: "Active", Active: { public_output: publicOutput } };
  });
  state.update(shareEntry, EncryptedShareStruct, (value) => {
    const user_output_signature = Array.from(signature);
    value.state = { $kind: "KeyHolderSigned", KeyHolderSigned: { user_output_signature } };
  });
  state.emit({
    packageId: dwalletPackageId,
    module: "coordinator_inner",
    type: coordinatorTypes(dwalletPackageId).inner("AcceptEncryptedUserShareEvent"),
    contents: AcceptEncryptedUserShareEvent.serialize({
      encrypted_user_secret_key_share_id: shareId,
      dwallet_id: dwalletId,
      user_output_signature: signature,
      encryption_key_id: key.id,
      encryption_key_address: share.encryption_key_address,
    }).toBytes(),
  });
}

function publicOutputOf(state: (typeof DWalletStruct.$inferType)["state"]): number[] | undefined {
  if (state.$kind === "AwaitingKeyHolderSignature") return state.AwaitingKeyHolderSignature.public_output;
  return state.$kind === "Active" ? state.Active.public_output : undefined;
}
