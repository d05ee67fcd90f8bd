import { CoordinatorInnerModule } from "@ika.xyz/sdk";
import { Ed25519PublicKey } from "@mysten/sui/keypairs/ed25519";
import { Address } from "../../../protocol/chain/fast-bcs.ts";
import type { ExecutionState, WorkingObject } from "../../fullnode/execution/execution-state.ts";
import {
  address,
  borrowed,
  borrowedMut,
  bytes,
  type MoveFunction,
  moveFunction,
  plainValue,
  u32,
} from "../../fullnode/execution/move-function.ts";
import { addObject, findObject, idName } from "../../fullnode/objects/dynamic-fields.ts";
import { ID_TYPE } from "../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { abortInner } from "./aborts.ts";
import { coordinatorTypes, EncryptionKeyStruct, readInner, updateInner } from "./coordinator-state.ts";
import { checkCurveSupport } from "./support.ts";
import { verifyEd25519WithNode } from "./verify-ed25519-with-node.ts";

const ED25519_PUBLIC_KEY_BYTES = 32;

/** Returns the calls about users' encryption keys. A signer address has at most one key, which never changes. */
export function encryptionKeyFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const { dwalletPackageId } = addresses;
  const types = coordinatorTypes(dwalletPackageId);
  const coordinator = { packageId: dwalletPackageId, module: "coordinator" } as const;
  return [
    moveFunction({
      ...coordinator,
      name: "register_encryption_key",
      parameters: [borrowedMut(types.coordinator), u32, bytes, bytes, bytes],
      run({ state }, _coordinator, curve, encryptionKey, signature, signerPublicKey) {
        checkCurveSupport(state, addresses, curve);
        const signed =
          signerPublicKey.length === ED25519_PUBLIC_KEY_BYTES &&
          verifyEd25519WithNode(signerPublicKey, encryptionKey, signature);
        if (!signed) abortInner(dwalletPackageId, "register_encryption_key", "InvalidEncryptionKeySignature");
        register(state, addresses, { curve, encryptionKey, signature, signerPublicKey });
      },
    }),
    moveFunction({
      ...coordinator,
      name: "get_active_encryption_key",
      parameters: [borrowed(types.coordinator), address],
      returns: [ID_TYPE],
      run({ state }, _coordinator, signer) {
        const key = findEncryptionKey(state, addresses, signer);
        if (key === undefined) {
          abortInner(dwalletPackageId, "get_active_encryption_key", "EncryptionKeyNotExist");
        }
        return [plainValue(ID_TYPE, Address.serialize(key.id).toBytes())];
      },
    }),
  ];
}

/** Returns the encryption key object of a signer address, or undefined if the signer has registered none. */
export function findEncryptionKey(
  state: ExecutionState,
  addresses: NetworkAddresses,
  signer: string,
): WorkingObject | undefined {
  return findObject(state, readInner(state, addresses).encryption_keys, idName(signer, "address"));
}

interface NewEncryptionKey {
  readonly curve: number;
  readonly encryptionKey: Uint8Array;
  readonly signature: Uint8Array;
  readonly signerPublicKey: Uint8Array;
}

function register(state: ExecutionState, addresses: NetworkAddresses, key: NewEncryptionKey): void {
  const { dwalletPackageId } = addresses;
  const types = coordinatorTypes(dwalletPackageId);
  const signerAddress = new Ed25519PublicKey(key.signerPublicKey).toSuiAddress();
  const id = state.newId();
  const object = state.create({
    id,
    type: types.inner("EncryptionKey"),
    contents: EncryptionKeyStruct.serialize({
      id,
      created_at_epoch: readInner(state, addresses).current_epoch,
      curve: key.curve,
      encryption_key: key.encryptionKey,
      encryption_key_signature: key.signature,
      signer_public_key: key.signerPublicKey,
      signer_address: signerAddress,
    }).toBytes(),
  });
  // The table itself aborts if the signer already has a key.
  updateInner(state, addresses, (inner) => {
    addObject(state, inner.encryption_keys, idName(signerAddress, "address"), object);
  });
  state.emit({
    packageId: dwalletPackageId,
    module: "coordinator_inner",
    type: types.inner("CreatedEncryptionKeyEvent"),
    contents: CoordinatorInnerModule.CreatedEncryptionKeyEvent.serialize({
      encryption_key_id: id,
      signer_address: signerAddress,
    }).toBytes(),
  });
}
