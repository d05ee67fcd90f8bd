import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import { Address } from "../../../../protocol/chain/fast-bcs.ts";
import type { ExecutionState, WorkingObject } from "../../../fullnode/execution/execution-state.ts";
import {
  borrowedMut,
  bytes,
  coinMut,
  type MoveFunction,
  moveFunction,
  owned,
  plainValue,
  struct,
} from "../../../fullnode/execution/move-function.ts";
import { addObject, idName } from "../../../fullnode/objects/dynamic-fields.ts";
import { ID_TYPE, SUI_TYPE } from "../../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import { abortInner } from "../aborts.ts";
import {
  activeDwallet,
  checkNetworkKey,
  coordinatorTypes,
  DWalletStruct,
  readInner,
  SignSessionStruct,
} from "../coordinator-state.ts";
import { chargeSession, type PaymentCoins } from "../payment.ts";
import { Protocol } from "../prices.ts";
import { openSession } from "../sessions.ts";
import { checkHash, checkPresignScope } from "../support.ts";
import type { Approval } from "./approve-message.ts";
import { type PresignCap, takePresign, unpackCap } from "./take-presign.ts";

const { MessageApproval, SignRequestEvent } = CoordinatorInnerModule;

/** Returns the calls that request a signature: for dWallets of a DKG and for imported keys, with and without its id. */
export function signFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const sign = (name: string, approvalName: string, isImportedKey: boolean, returns: readonly string[]) =>
    moveFunction({
      packageId: addresses.dwalletPackageId,
      module: "coordinator",
      name,
      parameters: [
        borrowedMut(types.coordinator),
        owned(types.inner("VerifiedPresignCap")),
        struct(types.inner(approvalName)),
        bytes,
        owned(types.sessions("SessionIdentifier")),
        coinMut(addresses.ikaCoinType),
        coinMut(SUI_TYPE),
      ],
      returns,
      run({ state }, _coordinator, cap, approved, userSignMessage, sessionIdentifier, ika, sui) {
        const approval = MessageApproval.parse(approved);
        const request = { cap, approval, userSignMessage, sessionIdentifier, isImportedKey };
        const signId = requestSign(state, addresses, request, { ika, sui });
        return returns.map((type) => plainValue(type, Address.serialize(signId).toBytes()));
      },
    });
  return [
    sign("request_sign", "MessageApproval", false, []),
    sign("request_sign_and_return_id", "MessageApproval", false, [ID_TYPE]),
    sign("request_imported_key_sign", "ImportedKeyMessageApproval", true, []),
    sign("request_imported_key_sign_and_return_id", "ImportedKeyMessageApproval", true, [ID_TYPE]),
  ];
}

const SignSessionEvent = SessionsManagerModule.DWalletSessionEvent(SignRequestEvent);

/** The arguments of `request_sign`. */
export interface RequestSignArguments {
  readonly cap: WorkingObject;
  readonly approval: Approval;
  readonly userSignMessage: Uint8Array;
  readonly sessionIdentifier: WorkingObject;
  /** True for `request_imported_key_sign`. Default false. */
  readonly isImportedKey?: boolean;
}

/** Consumes the presign, creates the sign session under its dWallet, pays and queues it. Returns the sign id. */
export function requestSign(
  state: ExecutionState,
  addresses: NetworkAddresses,
  { cap, ...request }: RequestSignArguments,
  payment: PaymentCoins,
): string {
  return startSign(
    state,
    addresses,
    {
      ...request,
      isImportedKey: request.isImportedKey ?? false,
      functionName: request.isImportedKey === true ? "request_imported_key_sign" : "request_sign",
      cap: unpackCap(state, cap),
      userSignMessage: Array.from(request.userSignMessage),
      isFutureSign: false,
    },
    payment,
  );
}

/** A signature to start: the user's message comes with the request, or from a partial signature. */
export interface StartedSign {
  readonly functionName: string;
  readonly cap: PresignCap;
  readonly approval: Approval;
  readonly userSignMessage: number[];
  readonly sessionIdentifier: WorkingObject;
  readonly isImportedKey: boolean;
  readonly isFutureSign: boolean;
}

/** Checks the presign against the dWallet and the approval, and queues the session. Returns the sign id. */
export function startSign(
  state: ExecutionState,
  addresses: NetworkAddresses,
  request: StartedSign,
  payment: PaymentCoins,
): string {
  const { dwalletPackageId } = addresses;
  const { approval, functionName } = request;
  const { signature_algorithm: signatureAlgorithm } = approval;
  const active = activeDwallet(state, addresses, approval.dwallet_id, functionName);
  const { object, dwallet, publicOutput } = active;
  const { curve, dwallet_network_encryption_key_id: networkKeyId } = dwallet;
  const presign = takePresign(state, addresses, functionName, request.cap, networkKeyId);
  if (presign.curve !== curve) abortInner(dwalletPackageId, functionName, "DWalletMismatch");
  if (presign.signatureAlgorithm !== signatureAlgorithm) {
    abortInner(dwalletPackageId, functionName, "MessageApprovalMismatch");
  }
  checkPresignScope(addresses, functionName, dwallet, signatureAlgorithm, presign.dwalletId);
  const protocol = request.isFutureSign ? Protocol.SignWithPartialSignature : Protocol.Sign;
  const charge = chargeSession(state, addresses, { curve, signatureAlgorithm, protocol }, payment);
  const signId = addSignSession(state, addresses, object);
  const event: typeof SignRequestEvent.$inferType = {
    sign_id: signId,
    dwallet_id: dwallet.id,
    dwallet_public_output: publicOutput,
    curve,
    signature_algorithm: signatureAlgorithm,
    hash_scheme: approval.hash_scheme,
    message: approval.message,
    dwallet_network_encryption_key_id: networkKeyId,
    presign_id: presign.id,
    presign: presign.output,
    message_centralized_signature: request.userSignMessage,
    is_future_sign: request.isFutureSign,
  };
  openSession(state, addresses, {
    identifier: request.sessionIdentifier,
    networkEncryptionKeyId: networkKeyId,
    charge,
    eventName: "SignRequestEvent",
    encode: (fields) => SignSessionEvent.serialize({ ...fields, event_data: event }).toBytes(),
  });
  checkHash(state, addresses, curve, signatureAlgorithm, approval.hash_scheme);
  checkNetworkKey(state, addresses, networkKeyId, curve, functionName);
  if (dwallet.is_imported_key_dwallet !== request.isImportedKey) {
    const reason = request.isImportedKey ? "NotImportedKeyDWallet" : "ImportedKeyDWallet";
    abortInner(dwalletPackageId, functionName, reason);
  }
  return signId;
}

/** Adds a sign session that waits for the network to a dWallet. Returns its id. */
export function addSignSession(
  state: ExecutionState,
  addresses: NetworkAddresses,
  dwallet: WorkingObject,
): string {
  const signId = state.newId();
  const session = state.create({
    id: signId,
    type: coordinatorTypes(addresses.dwalletPackageId).inner("SignSession"),
    contents: SignSessionStruct.serialize({
      id: signId,
      created_at_epoch: readInner(state, addresses).current_epoch,
      dwallet_id: dwallet.id,
      state: { Requested: true },
    }).toBytes(),
  });
  state.update(dwallet, DWalletStruct, (value) =>
    addObject(state, value.sign_sessions, idName(signId), session),
  );
  return signId;
}
