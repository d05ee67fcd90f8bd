import { CoordinatorInnerModule } from "@ika.xyz/sdk";
import type { ExecutionState, WorkingObject } from "../../../fullnode/execution/execution-state.ts";
import { addObject, idName } from "../../../fullnode/objects/dynamic-fields.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import { coordinatorTypes, DWalletStruct, readInner, updateInner } from "../coordinator-state.ts";

const { DWalletCap, ImportedKeyDWalletCap } = CoordinatorInnerModule;

/** Creates a dWallet that waits for the network, and its cap, which the transaction holds. */
export function createDwallet(
  state: ExecutionState,
  addresses: NetworkAddresses,
  { curve, networkEncryptionKeyId, isImportedKey, publicUserShare }: NewDwallet,
): { readonly dwallet: WorkingObject; readonly cap: WorkingObject; readonly dwalletId: string } {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const dwalletId = state.newId();
  const capId = state.newId();
  const dwallet = state.create({
    id: dwalletId,
    type: types.inner("DWallet"),
    contents: DWalletStruct.serialize({
      id: dwalletId,
      created_at_epoch: readInner(state, addresses).current_epoch,
      curve,
      public_user_secret_key_share: publicUserShare,
      dwallet_cap_id: capId,
      dwallet_network_encryption_key_id: networkEncryptionKeyId,
      is_imported_key_dwallet: isImportedKey,
      encrypted_user_secret_key_shares: { id: state.newId(), size: 0 },
      sign_sessions: { id: state.newId(), size: 0 },
      state: isImportedKey
        ? { AwaitingNetworkImportedKeyVerification: true }
        : { AwaitingNetworkDKGVerification: true },
    }).toBytes(),
  });
  updateInner(state, addresses, (inner) => addObject(state, inner.dwallets, idName(dwalletId), dwallet));
  const [capName, capCodec] = isImportedKey
    ? (["ImportedKeyDWalletCap", ImportedKeyDWalletCap] as const)
    : (["DWalletCap", DWalletCap] as const);
  const cap = state.create({
    id: capId,
    type: types.inner(capName),
    contents: capCodec.serialize({ id: capId, dwallet_id: dwalletId }).toBytes(),
  });
  return { dwallet, cap, dwalletId };
}

export interface NewDwallet {
  readonly curve: number;
  readonly networkEncryptionKeyId: string;
  readonly isImportedKey: boolean;
  /** Null unless the user's share is public from the start. */
  readonly publicUserShare: readonly number[] | null;
}
