import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import type { ExecutionState, WorkingObject } from "../../fullnode/execution/execution-state.ts";
import {
  borrowed,
  borrowedMut,
  bytes,
  coinMut,
  type MoveFunction,
  moveFunction,
  owned,
  plainValue,
  struct,
  u32,
} from "../../fullnode/execution/move-function.ts";
import { addObject, findObject, idName, removeObject } from "../../fullnode/objects/dynamic-fields.ts";
import { ID_TYPE, SUI_TYPE } from "../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { abortInner } from "./aborts.ts";
import {
  activeDwallet,
  coordinatorTypes,
  DWalletStruct,
  PresignSessionStruct,
  readInner,
  SignSessionStruct,
  updateInner,
} from "./coordinator-state.ts";
import { chargeSession, type PaymentCoins, Protocol } from "./payment.ts";
import { openSession } from "./sessions.ts";
import { checkHash } from "./support.ts";

const { DWalletCap, MessageApproval, SignRequestEvent, VerifiedPresignCap } = CoordinatorInnerModule;

/** Returns the calls that approve a message and request its signature. */
export function signFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const coordinator = { packageId: addresses.dwalletPackageId, module: "coordinator" } as const;
  const approvalType = types.inner("MessageApproval");
  const signParameters = [
    borrowedMut(types.coordinator),
    owned(types.inner("VerifiedPresignCap")),
    struct(approvalType),
    bytes,
    owned(types.sessions("SessionIdentifier")),
    coinMut(addresses.ikaCoinType),
    coinMut(SUI_TYPE),
  ] as const;
  return [
    moveFunction({
      ...coordinator,
      name: "approve_message",
      parameters: [borrowedMut(types.coordinator), borrowed(types.inner("DWalletCap")), u32, u32, bytes],
      returns: [approvalType],
      run({ state }, _coordinator, cap, signatureAlgorithm, hashScheme, message) {
        const approval = approveMessage(state, addresses, cap, signatureAlgorithm, hashScheme, message);
        const contents = MessageApproval.serialize(approval).toBytes();
        // An approval may be dropped but not copied, because it approves one signature.
        return [{ kind: "data", type: approvalType, bytes: contents, copyable: false, droppable: true }];
      },
    }),
    moveFunction({
      ...coordinator,
      name: "request_sign_and_return_id",
      parameters: signParameters,
      returns: [ID_TYPE],
      run({ state }, _coordinator, cap, approval, userSignMessage, sessionIdentifier, ika, sui) {
        const request = {
          cap,
          approval: MessageApproval.parse(approval),
          userSignMessage,
          sessionIdentifier,
        };
        const signId = requestSign(state, addresses, request, { ika, sui });
        return [plainValue(ID_TYPE, bcs.Address.serialize(signId).toBytes())];
      },
    }),
    moveFunction({
      ...coordinator,
      name: "request_sign",
      parameters: signParameters,
      run({ state }, _coordinator, cap, approval, userSignMessage, sessionIdentifier, ika, sui) {
        const request = {
          cap,
          approval: MessageApproval.parse(approval),
          userSignMessage,
          sessionIdentifier,
        };
        requestSign(state, addresses, request, { ika, sui });
      },
    }),
  ];
}

const SignSessionEvent = SessionsManagerModule.DWalletSessionEvent(SignRequestEvent);
const REQUEST_SIGN = "request_sign";

/** `coordinator_inner::MessageApproval` as the SDK decodes it. */
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
  const { dwallet } = activeDwallet(state, addresses, dwallet_id, "approve_message");
  if (dwallet.dwallet_cap_id !== cap.id) {
    abortInner(addresses.dwalletPackageId, "approve_message", "IncorrectCap");
  }
  checkHash(state, addresses, dwallet.curve, signatureAlgorithm, hashScheme);
  return {
    dwallet_id,
    signature_algorithm: signatureAlgorithm,
    hash_scheme: hashScheme,
    message: Array.from(message),
  };
}

/** The arguments of `request_sign`. */
export interface RequestSignArguments {
  readonly cap: WorkingObject;
  readonly approval: Approval;
  readonly userSignMessage: Uint8Array;
  readonly sessionIdentifier: WorkingObject;
}

/** Consumes the presign, creates the sign session under its dWallet, pays and queues it. Returns the sign id. */
export function requestSign(
  state: ExecutionState,
  addresses: NetworkAddresses,
  request: RequestSignArguments,
  payment: PaymentCoins,
): string {
  const { approval, userSignMessage } = request;
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const { object, dwallet, publicOutput } = activeDwallet(
    state,
    addresses,
    approval.dwallet_id,
    REQUEST_SIGN,
  );
  const presign = takePresign(state, addresses, request, dwallet.curve);
  checkHash(state, addresses, dwallet.curve, approval.signature_algorithm, approval.hash_scheme);
  const { curve } = dwallet;
  const key = { curve, signatureAlgorithm: approval.signature_algorithm, protocol: Protocol.Sign };
  const charge = chargeSession(state, addresses, key, payment);
  const signId = state.newId();
  const session = state.create({
    id: signId,
    type: types.inner("SignSession"),
    contents: SignSessionStruct.serialize({
      id: signId,
      created_at_epoch: readInner(state, addresses).current_epoch,
      dwallet_id: dwallet.id,
      state: { Requested: true },
    }).toBytes(),
  });
  state.update(object, DWalletStruct, (value) =>
    addObject(state, value.sign_sessions, idName(signId), session),
  );
  const event: typeof SignRequestEvent.$inferType = {
    sign_id: signId,
    dwallet_id: dwallet.id,
    dwallet_public_output: publicOutput,
    curve,
    signature_algorithm: approval.signature_algorithm,
    hash_scheme: approval.hash_scheme,
    message: approval.message,
    dwallet_network_encryption_key_id: dwallet.dwallet_network_encryption_key_id,
    presign_id: presign.id,
    presign: presign.output,
    message_centralized_signature: Array.from(userSignMessage),
    is_future_sign: false,
  };
  openSession(state, addresses, {
    identifier: request.sessionIdentifier,
    networkEncryptionKeyId: dwallet.dwallet_network_encryption_key_id,
    charge,
    eventName: "SignRequestEvent",
    encode: (fields) => SignSessionEvent.serialize({ ...fields, event_data: event }).toBytes(),
  });
  return signId;
}

interface TakenPresign {
  readonly id: string;
  readonly output: number[];
}

/** Checks that the cap, the presign and the approval match, and removes cap and presign permanently. */
function takePresign(
  state: ExecutionState,
  addresses: NetworkAddresses,
  request: RequestSignArguments,
  curve: number,
): TakenPresign {
  const { dwalletPackageId } = addresses;
  const cap = state.read(request.cap, VerifiedPresignCap);
  const name = idName(cap.presign_id);
  const found = findObject(state, readInner(state, addresses).presign_sessions, name);
  if (found === undefined) return abortInner(dwalletPackageId, REQUEST_SIGN, "PresignNotExist");
  const session = state.read(found, PresignSessionStruct);
  if (session.cap_id !== request.cap.id) abortInner(dwalletPackageId, REQUEST_SIGN, "IncorrectCap");
  if (session.state.$kind !== "Completed") return abortInner(dwalletPackageId, REQUEST_SIGN, "UnverifiedCap");
  if (session.dwallet_id !== null && session.dwallet_id !== request.approval.dwallet_id) {
    abortInner(dwalletPackageId, REQUEST_SIGN, "DWalletMismatch");
  }
  if (session.curve !== curve) abortInner(dwalletPackageId, REQUEST_SIGN, "DWalletMismatch");
  if (session.signature_algorithm !== request.approval.signature_algorithm) {
    abortInner(dwalletPackageId, REQUEST_SIGN, "MessageApprovalMismatch");
  }
  const taken = { id: session.id, output: session.state.Completed.presign };
  updateInner(state, addresses, (inner) => removeObject(state, inner.presign_sessions, name));
  state.remove(found);
  state.remove(request.cap);
  return taken;
}
