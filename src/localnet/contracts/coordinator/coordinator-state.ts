import { CoordinatorInnerDynamicField, CoordinatorInnerModule, CoordinatorModule } from "@ika.xyz/sdk";
import type { ExecutionState, WorkingObject } from "../../fullnode/execution/execution-state.ts";
import { moveAbort } from "../../fullnode/execution/failures.ts";
import { findObject, idName } from "../../fullnode/objects/dynamic-fields.ts";
import type { ObjectStore } from "../../fullnode/objects/object-store.ts";
import { COORDINATOR_VERSION, type NetworkAddresses } from "../addresses.ts";
import { abortInner, WRONG_INNER_VERSION } from "./aborts.ts";

/** `DWalletCoordinatorInner` as the SDK decodes it. */
export type CoordinatorInner = typeof CoordinatorInnerModule.DWalletCoordinatorInner.$inferType;

export const DWalletStruct: typeof CoordinatorInnerModule.DWallet = CoordinatorInnerModule.DWallet;
export const EncryptionKeyStruct: typeof CoordinatorInnerModule.EncryptionKey =
  CoordinatorInnerModule.EncryptionKey;
export const EncryptedShareStruct: typeof CoordinatorInnerModule.EncryptedUserSecretKeyShare =
  CoordinatorInnerModule.EncryptedUserSecretKeyShare;
export const PresignSessionStruct: typeof CoordinatorInnerModule.PresignSession =
  CoordinatorInnerModule.PresignSession;
export const SignSessionStruct: typeof CoordinatorInnerModule.SignSession =
  CoordinatorInnerModule.SignSession;
export const PartialSignatureStruct: typeof CoordinatorInnerModule.PartialUserSignature =
  CoordinatorInnerModule.PartialUserSignature;
export const NetworkEncryptionKeyStruct: typeof CoordinatorInnerModule.DWalletNetworkEncryptionKey =
  CoordinatorInnerModule.DWalletNetworkEncryptionKey;

/** The Move type names of the coordinator's package. */
export interface CoordinatorTypes {
  inner(name: string): string;
  sessions(name: string): string;
  readonly coordinator: string;
}

export function coordinatorTypes(packageId: string): CoordinatorTypes {
  return {
    inner: (name) => `${packageId}::coordinator_inner::${name}`,
    sessions: (name) => `${packageId}::sessions_manager::${name}`,
    coordinator: `${packageId}::coordinator::DWalletCoordinator`,
  };
}

/** Aborts if Ika has migrated the coordinator to another version than this package's. */
export function assertCoordinatorVersion(state: ExecutionState, addresses: NetworkAddresses): void {
  const coordinator = state.find(addresses.coordinatorId);
  if (coordinator === undefined) throw new Error("there is no coordinator");
  const { version } = state.read(coordinator, CoordinatorModule.DWalletCoordinator);
  if (BigInt(version) !== COORDINATOR_VERSION)
    throw moveAbort(`${addresses.dwalletPackageId}::coordinator::inner`, WRONG_INNER_VERSION);
}

export function readInner(state: ExecutionState, addresses: NetworkAddresses): CoordinatorInner {
  return state.read(innerObject(state, addresses), CoordinatorInnerDynamicField).value;
}

/** Changes the inner state in place. */
export function updateInner(
  state: ExecutionState,
  addresses: NetworkAddresses,
  change: (inner: CoordinatorInner) => void,
): void {
  state.update(innerObject(state, addresses), CoordinatorInnerDynamicField, (field) => change(field.value));
}

/** Returns the network's epoch, which only the network's own commits change. */
export function coordinatorEpoch(objects: ObjectStore, addresses: NetworkAddresses): bigint {
  const object = objects.get(addresses.coordinatorInnerId);
  if (object === undefined) throw new Error("the coordinator has no inner state");
  return BigInt(CoordinatorInnerDynamicField.parse(object.contents).value.current_epoch);
}

/** Returns the dWallet object. Aborts if there is none. */
export function dwalletObject(
  state: ExecutionState,
  addresses: NetworkAddresses,
  dwalletId: string,
  functionName: string,
): WorkingObject {
  const object = findObject(state, readInner(state, addresses).dwallets, idName(dwalletId));
  return object ?? abortInner(addresses.dwalletPackageId, functionName, "DWalletNotExists");
}

/** Returns a dWallet and its public output. Aborts if the dWallet is not active. */
export function activeDwallet(
  state: ExecutionState,
  addresses: NetworkAddresses,
  dwalletId: string,
  functionName: string,
) {
  const object = dwalletObject(state, addresses, dwalletId, functionName);
  const dwallet = state.read(object, DWalletStruct);
  if (dwallet.state.$kind !== "Active") {
    return abortInner(addresses.dwalletPackageId, functionName, "DWalletInactive");
  }
  return { object, dwallet, publicOutput: dwallet.state.Active.public_output };
}

/** Checks that the network encryption key exists and serves the curve. */
export function checkNetworkKey(
  state: ExecutionState,
  addresses: NetworkAddresses,
  networkEncryptionKeyId: string,
  curve: number,
  functionName: string,
): void {
  const keys = readInner(state, addresses).dwallet_network_encryption_keys;
  const object = findObject(state, keys, idName(networkEncryptionKeyId));
  if (object === undefined) {
    abortInner(addresses.dwalletPackageId, functionName, "NetworkEncryptionKeyNotExist");
  }
  if (!state.read(object, NetworkEncryptionKeyStruct).supported_curves.includes(curve)) {
    abortInner(addresses.dwalletPackageId, functionName, "NetworkEncryptionKeyUnsupportedCurve");
  }
}

function innerObject(state: ExecutionState, addresses: NetworkAddresses): WorkingObject {
  const object = state.find(addresses.coordinatorInnerId);
  if (object === undefined) throw new Error("the coordinator has no inner state");
  return object;
}
