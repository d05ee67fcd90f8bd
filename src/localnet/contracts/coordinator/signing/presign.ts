import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import type { ExecutionState, WorkingObject } from "../../../fullnode/execution/execution-state.ts";
import {
  borrowed,
  borrowedMut,
  coinMut,
  type MoveFunction,
  moveFunction,
  moveId,
  objectValue,
  owned,
  plainValue,
  u32,
} from "../../../fullnode/execution/move-function.ts";
import { addObject, borrowObject, idName } from "../../../fullnode/objects/dynamic-fields.ts";
import { SUI_TYPE } from "../../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import { abortInner } from "../aborts.ts";
import {
  activeDwallet,
  assertCoordinatorVersion,
  checkNetworkKey,
  coordinatorTypes,
  PresignSessionStruct,
  readInner,
  updateInner,
} from "../coordinator-state.ts";
import { chargeSession, type PaymentCoins } from "../payment.ts";
import { Protocol } from "../prices.ts";
import { openSession } from "../sessions.ts";
import { checkAlgorithm, usesGlobalPresigns } from "../support.ts";
import { bindToNetworkKey } from "./take-presign.ts";

const { PresignRequestEvent, UnverifiedPresignCap, VerifiedPresignCap } = CoordinatorInnerModule;

export function presignFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const coordinator = { packageId: addresses.dwalletPackageId, module: "coordinator" } as const;
  const unverified = types.inner("UnverifiedPresignCap");
  const session = owned(types.sessions("SessionIdentifier"));
  const coins = [coinMut(addresses.ikaCoinType), coinMut(SUI_TYPE)] as const;
  return [
    moveFunction({
      ...coordinator,
      name: "request_global_presign",
      parameters: [borrowedMut(types.coordinator), moveId, u32, u32, session, ...coins],
      returns: [unverified],
      run(
        { state },
        _coordinator,
        networkEncryptionKeyId,
        curve,
        signatureAlgorithm,
        sessionIdentifier,
        ika,
        sui,
      ) {
        const request = { networkEncryptionKeyId, curve, signatureAlgorithm, sessionIdentifier };
        return [objectValue(requestGlobalPresign(state, addresses, request, { ika, sui }).cap)];
      },
    }),
    moveFunction({
      ...coordinator,
      name: "request_presign",
      parameters: [borrowedMut(types.coordinator), moveId, u32, session, ...coins],
      returns: [unverified],
      run({ state }, _coordinator, dwalletId, signatureAlgorithm, sessionIdentifier, ika, sui) {
        const request = { dwalletId, signatureAlgorithm, sessionIdentifier };
        return [objectValue(requestDwalletPresign(state, addresses, request, { ika, sui }).cap)];
      },
    }),
    moveFunction({
      ...coordinator,
      name: "verify_presign_cap",
      parameters: [borrowedMut(types.coordinator), owned(unverified)],
      returns: [types.inner("VerifiedPresignCap")],
      run: ({ state }, _coordinator, cap) => [objectValue(verifyPresignCap(state, addresses, cap))],
    }),
    moveFunction({
      ...coordinator,
      name: "is_presign_valid",
      parameters: [borrowed(types.coordinator), borrowed(unverified)],
      returns: ["bool"],
      run({ state }, _coordinator, cap) {
        const { presign_id } = state.read(cap, UnverifiedPresignCap);
        const sessions = readInner(state, addresses).presign_sessions;
        // The table itself aborts if the presign was used.
        const session = state.read(borrowObject(state, sessions, idName(presign_id)), PresignSessionStruct);
        const valid = session.state.$kind === "Completed" && session.cap_id === cap.id;
        return [plainValue("bool", bcs.bool().serialize(valid).toBytes())];
      },
    }),
  ];
}

const PresignSessionEvent = SessionsManagerModule.DWalletSessionEvent(PresignRequestEvent);

/** The arguments of `request_global_presign`. */
export interface GlobalPresignRequest {
  readonly networkEncryptionKeyId: string;
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly sessionIdentifier: WorkingObject;
}

/** Creates the presign session, pays for it and queues it. The transaction holds its cap. */
export function requestGlobalPresign(
  state: ExecutionState,
  addresses: NetworkAddresses,
  request: GlobalPresignRequest,
  payment: PaymentCoins,
): { readonly cap: WorkingObject; readonly presignId: string } {
  const { networkEncryptionKeyId, curve, signatureAlgorithm } = request;
  checkAlgorithm(state, addresses, curve, signatureAlgorithm);
  checkNetworkKey(state, addresses, networkEncryptionKeyId, curve, "request_global_presign");
  const scope = { networkEncryptionKeyId, curve, signatureAlgorithm, dwallet: undefined };
  return startPresign(state, addresses, scope, request.sessionIdentifier, payment);
}

/** Requests a presign that only this dWallet can use. The transaction holds its cap. */
export function requestDwalletPresign(
  state: ExecutionState,
  addresses: NetworkAddresses,
  { dwalletId, signatureAlgorithm, sessionIdentifier }: DwalletPresignRequest,
  payment: PaymentCoins,
): { readonly cap: WorkingObject; readonly presignId: string } {
  const functionName = "request_presign";
  const { dwallet, publicOutput } = activeDwallet(state, addresses, dwalletId, functionName);
  const { curve, dwallet_network_encryption_key_id: networkEncryptionKeyId } = dwallet;
  checkAlgorithm(state, addresses, curve, signatureAlgorithm);
  checkNetworkKey(state, addresses, networkEncryptionKeyId, curve, functionName);
  if (usesGlobalPresigns(dwallet, signatureAlgorithm)) {
    abortInner(addresses.dwalletPackageId, functionName, "OnlyGlobalPresignAllowed");
  }
  const owner = { id: dwalletId, publicOutput };
  const scope = { networkEncryptionKeyId, curve, signatureAlgorithm, dwallet: owner };
  return startPresign(state, addresses, scope, sessionIdentifier, payment);
}

/** The arguments of `request_presign`. */
export interface DwalletPresignRequest {
  readonly dwalletId: string;
  readonly signatureAlgorithm: number;
  readonly sessionIdentifier: WorkingObject;
}

interface PresignScope {
  readonly networkEncryptionKeyId: string;
  readonly curve: number;
  readonly signatureAlgorithm: number;
  /** The only dWallet that can use the presign; undefined for a global one. */
  readonly dwallet: { readonly id: string; readonly publicOutput: number[] } | undefined;
}

/** Creates a presign session and its cap, pays and queues the session. */
function startPresign(
  state: ExecutionState,
  addresses: NetworkAddresses,
  { networkEncryptionKeyId, curve, signatureAlgorithm, dwallet }: PresignScope,
  identifier: WorkingObject,
  payment: PaymentCoins,
): { readonly cap: WorkingObject; readonly presignId: string } {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const dwallet_id = dwallet?.id ?? null;
  const key = { curve, signatureAlgorithm, protocol: Protocol.Presign };
  const charge = chargeSession(state, addresses, key, payment);
  const presignId = state.newId();
  const capId = state.newId();
  const session = state.create({
    id: presignId,
    type: types.inner("PresignSession"),
    contents: PresignSessionStruct.serialize({
      id: presignId,
      created_at_epoch: readInner(state, addresses).current_epoch,
      curve,
      signature_algorithm: signatureAlgorithm,
      dwallet_id,
      cap_id: capId,
      state: { Requested: true },
    }).toBytes(),
  });
  if (dwallet === undefined) bindToNetworkKey(state, presignId, networkEncryptionKeyId);
  updateInner(state, addresses, (inner) =>
    addObject(state, inner.presign_sessions, idName(presignId), session),
  );
  const event: typeof PresignRequestEvent.$inferType = {
    dwallet_id,
    presign_id: presignId,
    dwallet_public_output: dwallet?.publicOutput ?? null,
    dwallet_network_encryption_key_id: networkEncryptionKeyId,
    curve,
    signature_algorithm: signatureAlgorithm,
  };
  openSession(state, addresses, {
    identifier,
    networkEncryptionKeyId,
    charge,
    eventName: "PresignRequestEvent",
    encode: (fields) => PresignSessionEvent.serialize({ ...fields, event_data: event }).toBytes(),
  });
  const contents = UnverifiedPresignCap.serialize({ id: capId, dwallet_id, presign_id: presignId }).toBytes();
  return { presignId, cap: state.create({ id: capId, type: types.inner("UnverifiedPresignCap"), contents }) };
}

/** Exchanges the cap of a completed presign for a verified one. The session then refers to the new cap. */
export function verifyPresignCap(
  state: ExecutionState,
  addresses: NetworkAddresses,
  cap: WorkingObject,
): WorkingObject {
  const { dwalletPackageId } = addresses;
  assertCoordinatorVersion(state, addresses);
  const { dwallet_id, presign_id } = state.read(cap, UnverifiedPresignCap);
  const found = borrowObject(state, readInner(state, addresses).presign_sessions, idName(presign_id));
  const session = state.read(found, PresignSessionStruct);
  if (session.cap_id !== cap.id) abortInner(dwalletPackageId, "verify_presign_cap", "IncorrectCap");
  if (session.state.$kind !== "Completed")
    abortInner(dwalletPackageId, "verify_presign_cap", "UnverifiedCap");
  const capId = state.newId();
  state.remove(cap);
  state.update(found, PresignSessionStruct, (value) => {
    value.cap_id = capId;
  });
  return state.create({
    id: capId,
    type: coordinatorTypes(dwalletPackageId).inner("VerifiedPresignCap"),
    contents: VerifiedPresignCap.serialize({ id: capId, dwallet_id, presign_id }).toBytes(),
  });
}
