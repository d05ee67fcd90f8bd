import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import type { ExecutionState, WorkingObject } from "../../../fullnode/execution/execution-state.ts";
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
  u32,
} from "../../../fullnode/execution/move-function.ts";
import { borrowObject, idName } from "../../../fullnode/objects/dynamic-fields.ts";
import { SUI_TYPE } from "../../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import { checkNetworkKey, coordinatorTypes, EncryptionKeyStruct, readInner } from "../coordinator-state.ts";
import { chargeSession, type PaymentCoins } from "../payment.ts";
import { Protocol } from "../prices.ts";
import { openSession } from "../sessions.ts";
import { checkCurveSupport } from "../support.ts";
import { createDwallet } from "./new-dwallet.ts";
import { addEncryptedShare } from "./new-share.ts";

const { DWalletImportedKeyVerificationRequestEvent } = CoordinatorInnerModule;

/** Returns the call that makes a dWallet of a user's own key. */
export function importedKeyFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  return [
    moveFunction({
      packageId: addresses.dwalletPackageId,
      module: "coordinator",
      name: FUNCTION_NAME,
      parameters: [
        borrowedMut(types.coordinator),
        ...[moveId, u32, bytes, bytes, address, bytes, bytes],
        owned(types.sessions("SessionIdentifier")),
        ...[coinMut(addresses.ikaCoinType), coinMut(SUI_TYPE)],
      ] as const,
      returns: [types.inner("ImportedKeyDWalletCap")],
      run(
        { state },
        _coordinator,
        networkEncryptionKeyId,
        curve,
        userMessage,
        encryptedShareAndProof,
        encryptionKeyAddress,
        userPublicOutput,
        signerPublicKey,
        sessionIdentifier,
        ika,
        sui,
      ) {
        const request: ImportRequest = {
          networkEncryptionKeyId,
          curve,
          userMessage,
          encryptedShareAndProof,
          encryptionKeyAddress,
          userPublicOutput,
          signerPublicKey,
          sessionIdentifier,
        };
        return [objectValue(requestImport(state, addresses, request, { ika, sui }).cap)];
      },
    }),
  ];
}

const ImportEvent = SessionsManagerModule.DWalletSessionEvent(DWalletImportedKeyVerificationRequestEvent);
const FUNCTION_NAME = "request_imported_key_dwallet_verification";

/** The arguments of `request_imported_key_dwallet_verification`. */
export interface ImportRequest {
  readonly networkEncryptionKeyId: string;
  readonly curve: number;
  readonly userMessage: Uint8Array;
  readonly encryptedShareAndProof: Uint8Array;
  readonly encryptionKeyAddress: string;
  readonly userPublicOutput: Uint8Array;
  readonly signerPublicKey: Uint8Array;
  readonly sessionIdentifier: WorkingObject;
}

/**
 * Creates the dWallet in AwaitingNetworkImportedKeyVerification, pays and queues its session. The transaction holds its
 * cap.
 */
export function requestImport(
  state: ExecutionState,
  addresses: NetworkAddresses,
  request: ImportRequest,
  payment: PaymentCoins,
): { readonly cap: WorkingObject; readonly dwalletId: string } {
  const { curve, networkEncryptionKeyId, encryptedShareAndProof } = request;
  checkCurveSupport(state, addresses, curve);
  checkNetworkKey(state, addresses, networkEncryptionKeyId, curve, FUNCTION_NAME);
  const { encryption_keys } = readInner(state, addresses);
  // The table itself aborts if there is no such key. Move does not compare its curve here; the network's check fails.
  const keyObject = borrowObject(state, encryption_keys, idName(request.encryptionKeyAddress, "address"));
  const encryptionKey = state.read(keyObject, EncryptionKeyStruct);
  const { dwallet, cap, dwalletId } = createDwallet(state, addresses, {
    curve,
    networkEncryptionKeyId,
    isImportedKey: true,
    publicUserShare: null,
  });
  const shareId = state.newId();
  const share = { shareId, encryptedShareAndProof, encryptionKey, sourceShareId: null };
  addEncryptedShare(state, addresses, dwallet, share);
  const key = { curve, signatureAlgorithm: undefined, protocol: Protocol.ImportedKey };
  const charge = chargeSession(state, addresses, key, payment);
  const event: typeof DWalletImportedKeyVerificationRequestEvent.$inferType = {
    dwallet_id: dwalletId,
    encrypted_user_secret_key_share_id: shareId,
    centralized_party_message: Array.from(request.userMessage),
    dwallet_cap_id: cap.id,
    encrypted_centralized_secret_share_and_proof: Array.from(encryptedShareAndProof),
    encryption_key: encryptionKey.encryption_key,
    encryption_key_id: encryptionKey.id,
    encryption_key_address: request.encryptionKeyAddress,
    user_public_output: Array.from(request.userPublicOutput),
    signer_public_key: Array.from(request.signerPublicKey),
    dwallet_network_encryption_key_id: networkEncryptionKeyId,
    curve,
  };
  openSession(state, addresses, {
    identifier: request.sessionIdentifier,
    networkEncryptionKeyId,
    charge,
    eventName: "DWalletImportedKeyVerificationRequestEvent",
    encode: (fields) => ImportEvent.serialize({ ...fields, event_data: event }).toBytes(),
  });
  return { cap, dwalletId };
}
