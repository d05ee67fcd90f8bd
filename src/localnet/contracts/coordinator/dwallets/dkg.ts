import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { Address } from "../../../../protocol/chain/fast-bcs.ts";
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
  plainValue,
  struct,
  u32,
} from "../../../fullnode/execution/move-function.ts";
import { borrowObject, idName } from "../../../fullnode/objects/dynamic-fields.ts";
import { ID_TYPE, MOVE_STDLIB, SUI_TYPE } from "../../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import { abortInner } from "../aborts.ts";
import { checkNetworkKey, coordinatorTypes, EncryptionKeyStruct, readInner } from "../coordinator-state.ts";
import { chargeSession, type PaymentCoins } from "../payment.ts";
import { Protocol } from "../prices.ts";
import { openSession } from "../sessions.ts";
import { addSignSession } from "../signing/sign.ts";
import type { SignWithDkg } from "../signing/sign-during-dkg.ts";
import { checkCurveSupport } from "../support.ts";
import { createDwallet } from "./new-dwallet.ts";
import { addEncryptedShare } from "./new-share.ts";

const { DWalletDKGRequestEvent } = CoordinatorInnerModule;

/** Returns the calls that create a dWallet by a DKG. */
export function dkgFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const coordinator = { packageId: addresses.dwalletPackageId, module: "coordinator" } as const;
  const optionalSign = struct(`${MOVE_STDLIB}::option::Option<${types.inner("SignDuringDKGRequest")}>`);
  const session = owned(types.sessions("SessionIdentifier"));
  const coins = [coinMut(addresses.ikaCoinType), coinMut(SUI_TYPE)] as const;
  const returns = [types.inner("DWalletCap"), OPTIONAL_ID];
  return [
    moveFunction({
      ...coordinator,
      name: REQUEST_DKG,
      parameters: [
        ...[borrowedMut(types.coordinator), moveId, u32, bytes, bytes, address, bytes, bytes],
        ...[optionalSign, session, ...coins],
      ] as const,
      returns,
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
        signDuringDkg,
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
          signDuringDkg: optionalSignOf(signDuringDkg),
          sessionIdentifier,
        };
        return results(requestDkg(state, addresses, request, { ika, sui }));
      },
    }),
    moveFunction({
      ...coordinator,
      name: REQUEST_PUBLIC_DKG,
      parameters: [
        ...[borrowedMut(types.coordinator), moveId, u32, bytes, bytes, bytes],
        ...[optionalSign, session, ...coins],
      ] as const,
      returns,
      run(
        { state },
        _coordinator,
        networkEncryptionKeyId,
        curve,
        userDkgMessage,
        userPublicOutput,
        publicUserShare,
        signDuringDkg,
        sessionIdentifier,
        ika,
        sui,
      ) {
        const messages: DkgMessages = {
          networkEncryptionKeyId,
          curve,
          userDkgMessage,
          userPublicOutput,
          signDuringDkg: optionalSignOf(signDuringDkg),
          sessionIdentifier,
        };
        const share: ShareOfRequest = {
          $kind: "Public",
          Public: { public_user_secret_key_share: Array.from(publicUserShare) },
        };
        return results(startDkg(state, addresses, REQUEST_PUBLIC_DKG, messages, share, { ika, sui }));
      },
    }),
  ];
}

const DkgSessionEvent = SessionsManagerModule.DWalletSessionEvent(DWalletDKGRequestEvent);
const REQUEST_DKG = "request_dwallet_dkg";
const REQUEST_PUBLIC_DKG = "request_dwallet_dkg_with_public_user_secret_key_share";
const OPTIONAL_ID = `${MOVE_STDLIB}::option::Option<${ID_TYPE}>`;

/** The arguments that both calls have. */
interface DkgMessages {
  readonly networkEncryptionKeyId: string;
  readonly curve: number;
  readonly userDkgMessage: Uint8Array;
  readonly userPublicOutput: Uint8Array;
  /** A message that the new dWallet signs at once. Default none. */
  readonly signDuringDkg?: SignWithDkg | undefined;
  readonly sessionIdentifier: WorkingObject;
}

/** The arguments of `request_dwallet_dkg`. */
export interface DkgRequest extends DkgMessages {
  readonly encryptedShareAndProof: Uint8Array;
  readonly encryptionKeyAddress: string;
  readonly signerPublicKey: Uint8Array;
}

type ShareOfRequest = (typeof DWalletDKGRequestEvent.$inferType)["user_secret_key_share"];

/** The new dWallet's id and its cap, which the transaction holds. */
export interface RequestedDwallet {
  readonly cap: WorkingObject;
  readonly dwalletId: string;
  /** Null without a signature during the DKG. */
  readonly signId: string | null;
}

/** Creates the dWallet with its encrypted share in AwaitingNetworkDKGVerification, pays and queues its session. */
export function requestDkg(
  state: ExecutionState,
  addresses: NetworkAddresses,
  request: DkgRequest,
  payment: PaymentCoins,
): RequestedDwallet {
  const { encryption_keys } = readInner(state, addresses);
  // The table itself aborts if there is no such key.
  const keyObject = borrowObject(state, encryption_keys, idName(request.encryptionKeyAddress, "address"));
  const encryptionKey = state.read(keyObject, EncryptionKeyStruct);
  if (encryptionKey.curve !== request.curve) {
    abortInner(addresses.dwalletPackageId, REQUEST_DKG, "MismatchCurve");
  }
  const shareId = state.newId();
  const share: ShareOfRequest = {
    $kind: "Encrypted",
    Encrypted: {
      encrypted_user_secret_key_share_id: shareId,
      encrypted_centralized_secret_share_and_proof: Array.from(request.encryptedShareAndProof),
      encryption_key: encryptionKey.encryption_key,
      encryption_key_id: encryptionKey.id,
      encryption_key_address: request.encryptionKeyAddress,
      signer_public_key: Array.from(request.signerPublicKey),
    },
  };
  const started = startDkg(state, addresses, REQUEST_DKG, request, share, payment);
  addEncryptedShare(state, addresses, started.dwallet, {
    shareId,
    encryptedShareAndProof: request.encryptedShareAndProof,
    encryptionKey,
    sourceShareId: null,
  });
  return started;
}

/** Creates a dWallet, pays for its DKG and queues it. */
function startDkg(
  state: ExecutionState,
  addresses: NetworkAddresses,
  functionName: string,
  request: DkgMessages,
  share: ShareOfRequest,
  payment: PaymentCoins,
): RequestedDwallet & { readonly dwallet: WorkingObject } {
  const { curve, networkEncryptionKeyId, signDuringDkg } = request;
  checkCurveSupport(state, addresses, curve);
  checkNetworkKey(state, addresses, networkEncryptionKeyId, curve, functionName);
  const created = createDwallet(state, addresses, {
    curve,
    networkEncryptionKeyId,
    isImportedKey: false,
    publicUserShare: share.Public?.public_user_secret_key_share ?? null,
  });
  const signed = signDuringDkg && signEvent(state, addresses, created.dwallet, curve, signDuringDkg);
  const key =
    signDuringDkg === undefined
      ? { curve, signatureAlgorithm: undefined, protocol: Protocol.DwalletDkg }
      : { curve, signatureAlgorithm: signDuringDkg.signature_algorithm, protocol: Protocol.DkgWithSign };
  const charge = chargeSession(state, addresses, key, payment);
  const event: typeof DWalletDKGRequestEvent.$inferType = {
    dwallet_id: created.dwalletId,
    centralized_public_key_share_and_proof: Array.from(request.userDkgMessage),
    user_public_output: Array.from(request.userPublicOutput),
    dwallet_cap_id: created.cap.id,
    dwallet_network_encryption_key_id: networkEncryptionKeyId,
    curve,
    user_secret_key_share: share,
    sign_during_dkg_request: signed ?? null,
  };
  openSession(state, addresses, {
    identifier: request.sessionIdentifier,
    networkEncryptionKeyId,
    charge,
    eventName: "DWalletDKGRequestEvent",
    encode: (fields) => DkgSessionEvent.serialize({ ...fields, event_data: event }).toBytes(),
  });
  return { ...created, signId: signed?.sign_id ?? null };
}

/** Adds the sign session to the new dWallet. The presign must be of the dWallet's curve. */
function signEvent(
  state: ExecutionState,
  addresses: NetworkAddresses,
  dwallet: WorkingObject,
  curve: number,
  { curve: presignCurve, ...request }: SignWithDkg,
): SignEvent {
  const sign_id = addSignSession(state, addresses, dwallet);
  if (presignCurve !== curve)
    abortInner(addresses.dwalletPackageId, "request_dwallet_dkg_impl", "MismatchCurve");
  return { sign_id, ...request };
}

type SignEvent = NonNullable<(typeof DWalletDKGRequestEvent.$inferType)["sign_during_dkg_request"]>;

function optionalSignOf(bytes: Uint8Array): SignWithDkg | undefined {
  return OptionalSign.parse(bytes) ?? undefined;
}

const OptionalSign = bcs.option(CoordinatorInnerModule.SignDuringDKGRequest);

/** Returns the cap and the optional sign id, as Move does. */
function results({ cap, signId }: RequestedDwallet) {
  return [objectValue(cap), plainValue(OPTIONAL_ID, bcs.option(Address).serialize(signId).toBytes())];
}
