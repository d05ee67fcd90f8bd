import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import type { ExecutionState, WorkingObject } from "../../../fullnode/execution/execution-state.ts";
import {
  borrowed,
  borrowedMut,
  bytes,
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
  checkNetworkKey,
  coordinatorTypes,
  PartialSignatureStruct,
  readInner,
  updateInner,
} from "../coordinator-state.ts";
import { chargeSession, type PaymentCoins } from "../payment.ts";
import { Protocol } from "../prices.ts";
import { openSession } from "../sessions.ts";
import { checkHash, checkPresignScope } from "../support.ts";
import { readPresignOf, unpackCap } from "./take-presign.ts";

const {
  FutureSignRequestEvent,
  UnverifiedPartialUserSignatureCap,
  VerifiedPartialUserSignatureCap,
  VerifiedPresignCap,
} = CoordinatorInnerModule;

/** Returns the calls about a user's half of a signature that the network completes later. */
export function futureSignFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const coordinator = { packageId: addresses.dwalletPackageId, module: "coordinator" } as const;
  const unverified = types.inner("UnverifiedPartialUserSignatureCap");
  const verified = types.inner("VerifiedPartialUserSignatureCap");
  return [
    moveFunction({
      ...coordinator,
      name: REQUEST,
      parameters: [
        ...[borrowedMut(types.coordinator), moveId, owned(types.inner("VerifiedPresignCap"))],
        ...[bytes, u32, bytes, owned(types.sessions("SessionIdentifier"))],
        ...[coinMut(addresses.ikaCoinType), coinMut(SUI_TYPE)],
      ] as const,
      returns: [unverified],
      run(
        { state },
        _coordinator,
        dwalletId,
        cap,
        message,
        hashScheme,
        userSignMessage,
        sessionIdentifier,
        ika,
        sui,
      ) {
        const request = { dwalletId, cap, message, hashScheme, userSignMessage, sessionIdentifier };
        return [objectValue(requestFutureSign(state, addresses, request, { ika, sui }))];
      },
    }),
    moveFunction({
      ...coordinator,
      name: "is_partial_user_signature_valid",
      parameters: [borrowed(types.coordinator), borrowed(unverified)],
      returns: ["bool"],
      run({ state }, _coordinator, cap) {
        const { partial_centralized_signed_message_id: id } = state.read(
          cap,
          UnverifiedPartialUserSignatureCap,
        );
        const partial = state.read(partialSignature(state, addresses, id), PartialSignatureStruct);
        const valid = partial.cap_id === cap.id && partial.state.$kind === "NetworkVerificationCompleted";
        return [plainValue("bool", bcs.bool().serialize(valid).toBytes())];
      },
    }),
    moveFunction({
      ...coordinator,
      name: VERIFY,
      parameters: [borrowedMut(types.coordinator), owned(unverified)],
      returns: [verified],
      run: ({ state }, _coordinator, cap) => [objectValue(verifyPartialCap(state, addresses, cap))],
    }),
  ];
}

const FutureSignEvent = SessionsManagerModule.DWalletSessionEvent(FutureSignRequestEvent);
const REQUEST = "request_future_sign";
const VERIFY = "verify_partial_user_signature_cap";

/** Returns the object of a partial signature. The table itself aborts if there is none. */
export function partialSignature(
  state: ExecutionState,
  addresses: NetworkAddresses,
  id: string,
): WorkingObject {
  return borrowObject(state, readInner(state, addresses).partial_centralized_signed_messages, idName(id));
}

/** The arguments of `request_future_sign`. */
export interface FutureSignRequest {
  readonly dwalletId: string;
  readonly cap: WorkingObject;
  readonly message: Uint8Array;
  readonly hashScheme: number;
  readonly userSignMessage: Uint8Array;
  readonly sessionIdentifier: WorkingObject;
}

/**
 * Keeps the user's half of a signature together with its presign's cap, pays for its verification and queues it. The
 * presign stays on the chain until the signature is completed. Returns the cap of the partial signature.
 */
export function requestFutureSign(
  state: ExecutionState,
  addresses: NetworkAddresses,
  request: FutureSignRequest,
  payment: PaymentCoins,
): WorkingObject {
  const { dwalletPackageId } = addresses;
  const { hashScheme } = request;
  const types = coordinatorTypes(dwalletPackageId);
  const { dwallet, publicOutput } = activeDwallet(state, addresses, request.dwalletId, REQUEST);
  const { curve, dwallet_network_encryption_key_id: networkKeyId } = dwallet;
  const { presign_id } = state.read(request.cap, VerifiedPresignCap);
  const presign = readPresignOf(state, addresses, REQUEST, presign_id, { curve, networkKeyId });
  const { signatureAlgorithm } = presign;
  checkPresignScope(addresses, REQUEST, dwallet, signatureAlgorithm, presign.dwalletId);
  checkHash(state, addresses, curve, signatureAlgorithm, hashScheme);
  checkNetworkKey(state, addresses, networkKeyId, curve, REQUEST);
  const key = { curve, signatureAlgorithm, protocol: Protocol.FutureSign };
  const charge = chargeSession(state, addresses, key, payment);
  const [partialId, capId] = [state.newId(), state.newId()];
  const message = Array.from(request.message);
  const userSignMessage = Array.from(request.userSignMessage);
  const partial = state.create({
    id: partialId,
    type: types.inner("PartialUserSignature"),
    contents: PartialSignatureStruct.serialize({
      id: partialId,
      created_at_epoch: readInner(state, addresses).current_epoch,
      presign_cap: unpackCap(state, request.cap),
      dwallet_id: dwallet.id,
      cap_id: capId,
      curve,
      signature_algorithm: signatureAlgorithm,
      hash_scheme: hashScheme,
      message,
      message_centralized_signature: userSignMessage,
      state: { AwaitingNetworkVerification: true },
    }).toBytes(),
  });
  updateInner(state, addresses, (inner) =>
    addObject(state, inner.partial_centralized_signed_messages, idName(partialId), partial),
  );
  const event: typeof FutureSignRequestEvent.$inferType = {
    dwallet_id: dwallet.id,
    partial_centralized_signed_message_id: partialId,
    message,
    presign: presign.output,
    dwallet_public_output: publicOutput,
    curve,
    signature_algorithm: signatureAlgorithm,
    hash_scheme: hashScheme,
    message_centralized_signature: userSignMessage,
    dwallet_network_encryption_key_id: networkKeyId,
  };
  openSession(state, addresses, {
    identifier: request.sessionIdentifier,
    networkEncryptionKeyId: networkKeyId,
    charge,
    eventName: "FutureSignRequestEvent",
    encode: (fields) => FutureSignEvent.serialize({ ...fields, event_data: event }).toBytes(),
  });
  const contents = { id: capId, partial_centralized_signed_message_id: partialId };
  return state.create({
    id: capId,
    type: types.inner("UnverifiedPartialUserSignatureCap"),
    contents: UnverifiedPartialUserSignatureCap.serialize(contents).toBytes(),
  });
}

/** Exchanges the cap of a partial signature that the network has verified for a verified one. */
export function verifyPartialCap(
  state: ExecutionState,
  addresses: NetworkAddresses,
  cap: WorkingObject,
): WorkingObject {
  const { dwalletPackageId } = addresses;
  const { partial_centralized_signed_message_id: id } = state.read(cap, UnverifiedPartialUserSignatureCap);
  const object = partialSignature(state, addresses, id);
  const partial = state.read(object, PartialSignatureStruct);
  if (partial.cap_id !== cap.id) abortInner(dwalletPackageId, VERIFY, "IncorrectCap");
  if (partial.state.$kind !== "NetworkVerificationCompleted")
    abortInner(dwalletPackageId, VERIFY, "UnverifiedCap");
  const capId = state.newId();
  state.remove(cap);
  state.update(object, PartialSignatureStruct, (value) => {
    value.cap_id = capId;
  });
  const contents = { id: capId, partial_centralized_signed_message_id: id };
  return state.create({
    id: capId,
    type: coordinatorTypes(dwalletPackageId).inner("VerifiedPartialUserSignatureCap"),
    contents: VerifiedPartialUserSignatureCap.serialize(contents).toBytes(),
  });
}
