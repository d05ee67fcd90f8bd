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
  owned,
} from "../../../fullnode/execution/move-function.ts";
import { borrowObject, findObject, idName } from "../../../fullnode/objects/dynamic-fields.ts";
import { SUI_TYPE } from "../../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import { abortInner } from "../aborts.ts";
import { activeDwallet, coordinatorTypes, EncryptionKeyStruct, readInner } from "../coordinator-state.ts";
import { chargeSession, type PaymentCoins } from "../payment.ts";
import { Protocol } from "../prices.ts";
import { openSession } from "../sessions.ts";
import { addEncryptedShare } from "./new-share.ts";

/** Returns the calls that ask the network to check a share of an active dWallet. */
export function shareFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const session = owned(types.sessions("SessionIdentifier"));
  const coins = [coinMut(addresses.ikaCoinType), coinMut(SUI_TYPE)] as const;
  const coordinator = { packageId: addresses.dwalletPackageId, module: "coordinator" } as const;
  return [
    moveFunction({
      ...coordinator,
      name: RE_ENCRYPT,
      parameters: [borrowedMut(types.coordinator), moveId, address, bytes, moveId, session, ...coins],
      run(
        { state },
        _coordinator,
        dwalletId,
        encryptionKeyAddress,
        encryptedShareAndProof,
        sourceShareId,
        sessionIdentifier,
        ika,
        sui,
      ) {
        const request: ReEncryptionRequest = {
          dwalletId,
          encryptionKeyAddress,
          encryptedShareAndProof,
          sourceShareId,
          sessionIdentifier,
        };
        requestReEncryption(state, addresses, request, { ika, sui });
      },
    }),
    moveFunction({
      ...coordinator,
      name: MAKE_PUBLIC,
      parameters: [borrowedMut(types.coordinator), moveId, bytes, session, ...coins],
      run({ state }, _coordinator, dwalletId, publicUserShare, sessionIdentifier, ika, sui) {
        const request = { dwalletId, publicUserShare, sessionIdentifier };
        requestPublicShare(state, addresses, request, { ika, sui });
      },
    }),
  ];
}

const { EncryptedShareVerificationRequestEvent, MakeDWalletUserSecretKeySharePublicRequestEvent } =
  CoordinatorInnerModule;
const { DWalletSessionEvent } = SessionsManagerModule;
const EncryptedShareEvent = DWalletSessionEvent(EncryptedShareVerificationRequestEvent);
const PublicShareEvent = DWalletSessionEvent(MakeDWalletUserSecretKeySharePublicRequestEvent);
const RE_ENCRYPT = "request_re_encrypt_user_share_for";
const MAKE_PUBLIC = "request_make_dwallet_user_secret_key_shares_public";

interface ReEncryptionRequest {
  readonly dwalletId: string;
  /** The address of the new owner's encryption key. */
  readonly encryptionKeyAddress: string;
  readonly encryptedShareAndProof: Uint8Array;
  readonly sourceShareId: string;
  readonly sessionIdentifier: WorkingObject;
}

/** Adds a share for another key to a dWallet, pays for the check of its proof and queues it. It needs no cap. */
export function requestReEncryption(
  state: ExecutionState,
  addresses: NetworkAddresses,
  {
    dwalletId,
    encryptionKeyAddress,
    encryptedShareAndProof,
    sourceShareId,
    sessionIdentifier,
  }: ReEncryptionRequest,
  payment: PaymentCoins,
): void {
  const { encryption_keys } = readInner(state, addresses);
  // The table itself aborts if there is no such key.
  const keyObject = borrowObject(state, encryption_keys, idName(encryptionKeyAddress, "address"));
  const encryptionKey = state.read(keyObject, EncryptionKeyStruct);
  const { object, dwallet, publicOutput } = activeDwallet(state, addresses, dwalletId, RE_ENCRYPT);
  const shares = dwallet.encrypted_user_secret_key_shares;
  if (findObject(state, shares, idName(sourceShareId)) === undefined) {
    abortInner(addresses.dwalletPackageId, RE_ENCRYPT, "InvalidSource");
  }
  const shareId = state.newId();
  addEncryptedShare(state, addresses, object, {
    shareId,
    encryptedShareAndProof,
    encryptionKey,
    sourceShareId,
  });
  const { curve, dwallet_network_encryption_key_id } = dwallet;
  const key = { curve, signatureAlgorithm: undefined, protocol: Protocol.ReEncryption };
  const charge = chargeSession(state, addresses, key, payment);
  const event: typeof EncryptedShareVerificationRequestEvent.$inferType = {
    encrypted_centralized_secret_share_and_proof: Array.from(encryptedShareAndProof),
    public_output: publicOutput,
    dwallet_id: dwalletId,
    encryption_key: encryptionKey.encryption_key,
    encryption_key_id: encryptionKey.id,
    encrypted_user_secret_key_share_id: shareId,
    source_encrypted_user_secret_key_share_id: sourceShareId,
    dwallet_network_encryption_key_id,
    curve,
  };
  openSession(state, addresses, {
    identifier: sessionIdentifier,
    networkEncryptionKeyId: dwallet_network_encryption_key_id,
    charge,
    eventName: "EncryptedShareVerificationRequestEvent",
    encode: (fields) => EncryptedShareEvent.serialize({ ...fields, event_data: event }).toBytes(),
  });
}

interface PublicShareRequest {
  readonly dwalletId: string;
  readonly publicUserShare: Uint8Array;
  readonly sessionIdentifier: WorkingObject;
}

/** Pays for the check of a share that becomes public, and queues it. It needs no cap: the share itself is the proof. */
function requestPublicShare(
  state: ExecutionState,
  addresses: NetworkAddresses,
  { dwalletId, publicUserShare, sessionIdentifier }: PublicShareRequest,
  payment: PaymentCoins,
): void {
  const { dwallet, publicOutput } = activeDwallet(state, addresses, dwalletId, MAKE_PUBLIC);
  if (dwallet.public_user_secret_key_share !== null) {
    abortInner(addresses.dwalletPackageId, MAKE_PUBLIC, "SharesAlreadyPublic");
  }
  const { curve, dwallet_network_encryption_key_id } = dwallet;
  const key = { curve, signatureAlgorithm: undefined, protocol: Protocol.PublicShare };
  const charge = chargeSession(state, addresses, key, payment);
  const event: typeof MakeDWalletUserSecretKeySharePublicRequestEvent.$inferType = {
    public_user_secret_key_share: Array.from(publicUserShare),
    public_output: publicOutput,
    curve,
    dwallet_id: dwalletId,
    dwallet_network_encryption_key_id,
  };
  openSession(state, addresses, {
    identifier: sessionIdentifier,
    networkEncryptionKeyId: dwallet_network_encryption_key_id,
    charge,
    eventName: "MakeDWalletUserSecretKeySharePublicRequestEvent",
    encode: (fields) => PublicShareEvent.serialize({ ...fields, event_data: event }).toBytes(),
  });
}
