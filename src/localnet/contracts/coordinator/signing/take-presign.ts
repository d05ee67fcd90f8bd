import { CoordinatorInnerModule } from "@ika.xyz/sdk";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Address } from "../../../../protocol/chain/fast-bcs.ts";
import type { ExecutionState, WorkingObject } from "../../../fullnode/execution/execution-state.ts";
import {
  addField,
  bytesName,
  fieldValue,
  findObject,
  idName,
  removeField,
  removeObject,
} from "../../../fullnode/objects/dynamic-fields.ts";
import { ID_TYPE } from "../../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import { abortInner } from "../aborts.ts";
import { PresignSessionStruct, readInner, updateInner } from "../coordinator-state.ts";

const { VerifiedPresignCap } = CoordinatorInnerModule;

/** A presign cap as the SDK decodes it. */
export type PresignCap = typeof CoordinatorInnerModule.VerifiedPresignCap.$inferType;

/** A completed presign, as its session holds it. */
export interface TakenPresign {
  readonly id: string;
  readonly output: number[];
  readonly curve: number;
  readonly signatureAlgorithm: number;
  /** The dWallet that alone can use it; null for a global presign. */
  readonly dwalletId: string | null;
}

/** Writes under a new global presign for which network key it is. */
export function bindToNetworkKey(state: ExecutionState, presignId: string, networkKeyId: string): void {
  const value = Address.serialize(networkKeyId).toBytes();
  addField(state, fieldsOf(presignId), NETWORK_KEY_FIELD, ID_TYPE, value);
}

/**
 * Takes the presign of a verified cap from the chain permanently. `dwalletNetworkKeyId` is the key of the dWallet that
 * signs; undefined if the caller checks a global presign's key itself.
 */
export function takePresign(
  state: ExecutionState,
  addresses: NetworkAddresses,
  functionName: string,
  cap: PresignCap,
  dwalletNetworkKeyId: string | undefined,
): TakenPresign & { readonly networkKeyId: string | undefined } {
  const presign = findPresign(state, addresses, functionName, cap.presign_id);
  const { session, object } = presign;
  const completed = completedPresign(addresses, functionName, session);
  const networkKeyId = networkKeyOf(state, session);
  if (dwalletNetworkKeyId !== undefined && (networkKeyId ?? dwalletNetworkKeyId) !== dwalletNetworkKeyId) {
    abortInner(addresses.dwalletPackageId, functionName, "InvalidPresign");
  }
  if (session.cap_id !== cap.id || session.dwallet_id !== cap.dwallet_id) {
    abortInner(addresses.dwalletPackageId, functionName, "PresignMismatch");
  }
  if (networkKeyId !== undefined) removeField(state, fieldsOf(session.id), NETWORK_KEY_FIELD);
  updateInner(state, addresses, (inner) =>
    removeObject(state, inner.presign_sessions, idName(cap.presign_id)),
  );
  state.remove(object);
  return { ...completed, networkKeyId };
}

/**
 * Reads the presign that a partial signature reserves. Aborts unless it is completed, of the dWallet's curve, and, if it
 * is global, of the dWallet's network key.
 */
export function readPresignOf(
  state: ExecutionState,
  addresses: NetworkAddresses,
  functionName: string,
  presignId: string,
  dwallet: { readonly curve: number; readonly networkKeyId: string },
): TakenPresign {
  const { session } = findPresign(state, addresses, functionName, presignId);
  if (session.curve !== dwallet.curve)
    abortInner(addresses.dwalletPackageId, functionName, "DWalletMismatch");
  if ((networkKeyOf(state, session) ?? dwallet.networkKeyId) !== dwallet.networkKeyId) {
    abortInner(addresses.dwalletPackageId, functionName, "InvalidPresign");
  }
  return completedPresign(addresses, functionName, session);
}

/** Takes the contents out of a cap that the transaction holds, and removes the cap. */
export function unpackCap(state: ExecutionState, cap: WorkingObject): PresignCap {
  const contents = state.read(cap, VerifiedPresignCap);
  state.remove(cap);
  return contents;
}

/** Returns the session of a presign. Aborts if there is none. */
function findPresign(
  state: ExecutionState,
  addresses: NetworkAddresses,
  functionName: string,
  presignId: string,
) {
  const object = findObject(state, readInner(state, addresses).presign_sessions, idName(presignId));
  if (object === undefined) return abortInner(addresses.dwalletPackageId, functionName, "PresignNotExist");
  return { object, session: state.read(object, PresignSessionStruct) };
}

type Session = typeof PresignSessionStruct.$inferType;

function completedPresign(addresses: NetworkAddresses, functionName: string, session: Session): TakenPresign {
  if (session.state.$kind !== "Completed")
    return abortInner(addresses.dwalletPackageId, functionName, "InvalidPresign");
  return {
    id: session.id,
    output: session.state.Completed.presign,
    curve: session.curve,
    signatureAlgorithm: session.signature_algorithm,
    dwalletId: session.dwallet_id,
  };
}

/**
 * Returns the network key of a global presign. Undefined for a presign of one dWallet, and for a global presign that an
 * older version of the localnet made: the network's cryptography refuses that one under another key.
 */
function networkKeyOf(state: ExecutionState, session: Session): string | undefined {
  if (session.dwallet_id !== null) return undefined;
  const value = fieldValue(state, fieldsOf(session.id), NETWORK_KEY_FIELD);
  return value === undefined ? undefined : Address.parse(value);
}

/** Move's name of the dynamic field. */
const NETWORK_KEY_FIELD = bytesName(utf8ToBytes("dwallet_network_encryption_key_id"));

/** The dynamic fields of an object itself, which no table counts. */
const fieldsOf = (id: string) => ({ id, size: "1" });
