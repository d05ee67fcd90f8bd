import type { ExecutionState, WorkingObject } from "../../../fullnode/execution/execution-state.ts";
import { addObject, idName } from "../../../fullnode/objects/dynamic-fields.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import {
  coordinatorTypes,
  DWalletStruct,
  EncryptedShareStruct,
  type EncryptionKeyStruct,
  readInner,
} from "../coordinator-state.ts";

/** Adds an encrypted share, whose proof the network has yet to verify, to a dWallet. */
export function addEncryptedShare(
  state: ExecutionState,
  addresses: NetworkAddresses,
  dwallet: WorkingObject,
  { shareId, encryptedShareAndProof, encryptionKey, sourceShareId }: NewShare,
): void {
  const share = state.create({
    id: shareId,
    type: coordinatorTypes(addresses.dwalletPackageId).inner("EncryptedUserSecretKeyShare"),
    contents: EncryptedShareStruct.serialize({
      id: shareId,
      created_at_epoch: readInner(state, addresses).current_epoch,
      dwallet_id: dwallet.id,
      encrypted_centralized_secret_share_and_proof: encryptedShareAndProof,
      encryption_key_id: encryptionKey.id,
      encryption_key_address: encryptionKey.signer_address,
      source_encrypted_user_secret_key_share_id: sourceShareId,
      state: { AwaitingNetworkVerification: true },
    }).toBytes(),
  });
  state.update(dwallet, DWalletStruct, (value) => {
    addObject(state, value.encrypted_user_secret_key_shares, idName(shareId), share);
  });
}

export interface NewShare {
  readonly shareId: string;
  readonly encryptedShareAndProof: Uint8Array;
  /** The key under which the share is encrypted. */
  readonly encryptionKey: Pick<typeof EncryptionKeyStruct.$inferType, "id" | "signer_address">;
  /** The share that it is a copy of; null for a dWallet's first. */
  readonly sourceShareId: string | null;
}
