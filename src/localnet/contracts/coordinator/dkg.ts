import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import type { ExecutionState, WorkingObject } from "../../fullnode/execution/execution-state.ts";
import {
  address,
  borrowedMut,
  bytes,
  coinMut,
  type MoveFunction,
  moveFunction,
  moveId,
  objectValue,
  owned,
  plainValue,
  struct,
  u32,
} from "../../fullnode/execution/move-function.ts";
import { addObject, borrowObject, idName } from "../../fullnode/objects/dynamic-fields.ts";
import { ID_TYPE, MOVE_STDLIB, SUI_TYPE } from "../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { abortInner } from "./aborts.ts";
import {
  checkNetworkKey,
  coordinatorTypes,
  DWalletStruct,
  EncryptedShareStruct,
  EncryptionKeyStruct,
  readInner,
  updateInner,
} from "./coordinator-state.ts";
import { chargeSession, type PaymentCoins, Protocol } from "./payment.ts";
import { openSession } from "./sessions.ts";
import { checkCurveSupport } from "./support.ts";

const { DWalletCap, DWalletDKGRequestEvent } = CoordinatorInnerModule;

/** Returns the call that creates a dWallet. */
export function dkgFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  return [
    moveFunction({
      packageId: addresses.dwalletPackageId,
      module: "coordinator",
      name: FUNCTION_NAME,
      parameters: [
        borrowedMut(types.coordinator),
        moveId,
        u32,
        bytes,
        bytes,
        address,
        bytes,
        bytes,
        struct(`${MOVE_STDLIB}::option::Option<${types.inner("SignDuringDKGRequest")}>`),
        owned(types.sessions("SessionIdentifier")),
        coinMut(addresses.ikaCoinType),
        coinMut(SUI_TYPE),
      ],
      returns: [types.inner("DWalletCap"), `${MOVE_STDLIB}::option::Option<${ID_TYPE}>`],
      run(
        { state },
        _coordinator,
        networkEncryptionKeyId,
        curve,
        userDkgMessage,
        encryptedShareAndProof,
        encryptionKeyAddress,
        userPublicOutput,
        signerPublicKey,
        _signDuringDkg,
        sessionIdentifier,
        ika,
        sui,
      ) {
        const request: DkgRequest = {
          networkEncryptionKeyId,
          curve,
          userDkgMessage,
          encryptedShareAndProof,
          encryptionKeyAddress,
          userPublicOutput,
          signerPublicKey,
          sessionIdentifier,
        };
        const { cap } = requestDkg(state, addresses, request, { ika, sui });
        // The request contains no signature during DKG, so there is no sign id.
        return [objectValue(cap), plainValue(`${MOVE_STDLIB}::option::Option<${ID_TYPE}>`, Uint8Array.of(0))];
      },
    }),
  ];
}

const DkgSessionEvent = SessionsManagerModule.DWalletSessionEvent(DWalletDKGRequestEvent);
const FUNCTION_NAME = "request_dwallet_dkg";

/** The arguments of `request_dwallet_dkg`. */
export interface DkgRequest {
  readonly networkEncryptionKeyId: string;
  readonly curve: number;
  readonly userDkgMessage: Uint8Array;
  readonly encryptedShareAndProof: Uint8Array;
  readonly encryptionKeyAddress: string;
  readonly userPublicOutput: Uint8Array;
  readonly signerPublicKey: Uint8Array;
  readonly sessionIdentifier: WorkingObject;
}

/** The new dWallet's id and its cap, which the transaction holds. */
export interface RequestedDwallet {
  readonly cap: WorkingObject;
  readonly dwalletId: string;
}

/** Creates the dWallet in AwaitingNetworkDKGVerification, pays and queues its session. */
export function requestDkg(
  state: ExecutionState,
  addresses: NetworkAddresses,
  request: DkgRequest,
  payment: PaymentCoins,
): RequestedDwallet {
  checkCurveSupport(state, addresses, request.curve);
  checkNetworkKey(state, addresses, request.networkEncryptionKeyId, request.curve, FUNCTION_NAME);
  const { encryption_keys } = readInner(state, addresses);
  // The table itself aborts if there is no such key.
  const keyObject = borrowObject(state, encryption_keys, idName(request.encryptionKeyAddress, "address"));
  const encryptionKey = state.read(keyObject, EncryptionKeyStruct);
  if (encryptionKey.curve !== request.curve) {
    abortInner(addresses.dwalletPackageId, FUNCTION_NAME, "MismatchCurve");
  }
  const { curve } = request;
  const key = { curve, signatureAlgorithm: undefined, protocol: Protocol.DwalletDkg };
  const charge = chargeSession(state, addresses, key, payment);
  const created = createDwallet(state, addresses, request, encryptionKey.id);
  const event: typeof DWalletDKGRequestEvent.$inferType = {
    dwallet_id: created.dwalletId,
    centralized_public_key_share_and_proof: Array.from(request.userDkgMessage),
    user_public_output: Array.from(request.userPublicOutput),
    dwallet_cap_id: created.cap.id,
    dwallet_network_encryption_key_id: request.networkEncryptionKeyId,
    curve,
    user_secret_key_share: {
      $kind: "Encrypted",
      Encrypted: {
        encrypted_user_secret_key_share_id: created.shareId,
        encrypted_centralized_secret_share_and_proof: Array.from(request.encryptedShareAndProof),
        encryption_key: encryptionKey.encryption_key,
        encryption_key_id: encryptionKey.id,
        encryption_key_address: request.encryptionKeyAddress,
        signer_public_key: Array.from(request.signerPublicKey),
      },
    },
    sign_during_dkg_request: null,
  };
  openSession(state, addresses, {
    identifier: request.sessionIdentifier,
    networkEncryptionKeyId: request.networkEncryptionKeyId,
    charge,
    eventName: "DWalletDKGRequestEvent",
    encode: (fields) => DkgSessionEvent.serialize({ ...fields, event_data: event }).toBytes(),
  });
  return { cap: created.cap, dwalletId: created.dwalletId };
}

function createDwallet(
  state: ExecutionState,
  addresses: NetworkAddresses,
  request: DkgRequest,
  encryptionKeyId: string,
): { cap: WorkingObject; dwalletId: string; shareId: string } {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const epoch = readInner(state, addresses).current_epoch;
  const dwalletId = state.newId();
  const capId = state.newId();
  const shareId = state.newId();
  const dwallet = state.create({
    id: dwalletId,
    type: types.inner("DWallet"),
    contents: DWalletStruct.serialize({
      id: dwalletId,
      created_at_epoch: epoch,
      curve: request.curve,
      public_user_secret_key_share: null,
      dwallet_cap_id: capId,
      dwallet_network_encryption_key_id: request.networkEncryptionKeyId,
      is_imported_key_dwallet: false,
      encrypted_user_secret_key_shares: { id: state.newId(), size: 0 },
      sign_sessions: { id: state.newId(), size: 0 },
      state: { AwaitingNetworkDKGVerification: true },
    }).toBytes(),
  });
  const share = state.create({
    id: shareId,
    type: types.inner("EncryptedUserSecretKeyShare"),
    contents: EncryptedShareStruct.serialize({
      id: shareId,
      created_at_epoch: epoch,
      dwallet_id: dwalletId,
      encrypted_centralized_secret_share_and_proof: request.encryptedShareAndProof,
      encryption_key_id: encryptionKeyId,
      encryption_key_address: request.encryptionKeyAddress,
      source_encrypted_user_secret_key_share_id: null,
      state: { AwaitingNetworkVerification: true },
    }).toBytes(),
  });
  state.update(dwallet, DWalletStruct, (value) => {
    addObject(state, value.encrypted_user_secret_key_shares, idName(shareId), share);
  });
  updateInner(state, addresses, (inner) => addObject(state, inner.dwallets, idName(dwalletId), dwallet));
  const cap = state.create({
    id: capId,
    type: types.inner("DWalletCap"),
    contents: DWalletCap.serialize({ id: capId, dwallet_id: dwalletId }).toBytes(),
  });
  return { cap, dwalletId, shareId };
}
