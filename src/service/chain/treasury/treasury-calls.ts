import { bcs } from "@mysten/sui/bcs";
import type { Transaction } from "@mysten/sui/transactions";
import { SUI_TYPE_ARG } from "@mysten/sui/utils";
import type { TreasuryConsent } from "../../../protocol/chain/treasury-custody.ts";
import type { ChainNetwork } from "../fullnodes/network.ts";

/**
 * Adds the service's Move calls to a transaction block. All shared objects are passed by explicit reference. Paid calls
 * go through the Treasury. Registering a key and accepting a share cost only gas and call the coordinator directly.
 */
export interface ChainCalls {
  /** Splits coins of these amounts from the gas coins, for the same owner. */
  splitGas(amountsMist: readonly bigint[]): void;
  /** Makes a coin of a part of the gas owner's address balance. The gas owner must be the sender, and keeps the coin. */
  redeemGas(amountMist: bigint): void;
  /** Transfers the sender's coins, in exactly these versions, and a part of its address balance, to an address. */
  transferCoins(call: {
    coins: readonly OwnedRef[];
    /** In the coin's smallest unit. The recipient gets it as a coin. */
    withdrawal?: { readonly coinType: string; readonly amount: bigint } | undefined;
    recipient: string;
  }): void;
  registerEncryptionKey(call: {
    curve: number;
    encryptionKey: Uint8Array;
    signature: Uint8Array;
    signerPublicKey: Uint8Array;
  }): void;
  /** Executes a consent that the owner of a dWallet has signed. Needs no capability of the service. */
  useConsent(
    call: TreasuryConsent & { readonly publicKey: Uint8Array; readonly signature: Uint8Array },
  ): void;
  payDkg(call: {
    networkEncryptionKeyId: string;
    curve: number;
    userDkgMessage: Uint8Array;
    encryptedUserShareAndProof: Uint8Array;
    /** Sui address of the signer whose registered key the share is encrypted under. */
    encryptionKeyAddress: string;
    userPublicOutput: Uint8Array;
    signerPublicKey: Uint8Array;
    sessionBytes: Uint8Array;
    /** The service's own id of the request, put into the Treasury's event. */
    requestReference: Uint8Array;
  }): void;
  acceptEncryptedUserShare(call: {
    dwalletId: string;
    encryptedUserSecretKeyShareId: string;
    userOutputSignature: Uint8Array;
  }): void;
  payPresigns(call: {
    networkEncryptionKeyId: string;
    curve: number;
    signatureAlgorithm: number;
    sessionBytes: readonly Uint8Array[];
  }): void;
  paySign(call: {
    dwalletId: string;
    presignId: string;
    curve: number;
    signatureAlgorithm: number;
    hashScheme: number;
    message: Uint8Array;
    userSignMessage: Uint8Array;
    sessionBytes: Uint8Array;
    requestReference: Uint8Array;
  }): void;
}

/**
 * Adds the service's Move calls to a transaction, with explicit references to all objects. The order of arguments is
 * that of `move/treasury` for the paid calls and of the Ika coordinator module for the others.
 */
export function createTreasuryCalls(
  tx: Transaction,
  network: ChainNetwork,
  operatorCap: OwnedRef,
): ChainCalls {
  const coordinator = () => tx.sharedObjectRef({ ...network.coordinatorRef, mutable: true });
  const treasury = () => tx.sharedObjectRef({ ...network.treasuryRef, mutable: true });
  const bytes = (value: Uint8Array) => tx.pure(bcs.byteVector().serialize(value));
  const coordinatorCall = (name: string, args: Parameters<Transaction["moveCall"]>[0]["arguments"]) =>
    tx.moveCall({
      target: `${network.ikaConfig.packages.ikaDwallet2pcMpcPackage}::coordinator::${name}`,
      arguments: [coordinator(), ...(args ?? [])] as never,
    });
  const treasuryCall = (name: string, args: Parameters<Transaction["moveCall"]>[0]["arguments"]) =>
    tx.moveCall({
      target: `${network.treasury.packageId}::treasury::${name}`,
      arguments: [treasury(), tx.objectRef(operatorCap), coordinator(), ...(args ?? [])] as never,
    });
  const redeem = ({ coinType, amount }: { readonly coinType: string; readonly amount: bigint }) =>
    tx.moveCall({
      target: "0x2::coin::redeem_funds",
      typeArguments: [coinType],
      arguments: [tx.withdrawal({ amount, type: coinType })],
    });
  return {
    splitGas(amountsMist) {
      const coins = tx.splitCoins(tx.gas, [...amountsMist]);
      tx.transferObjects(
        amountsMist.map((_, index) => coins[index] as (typeof coins)[number]),
        network.gasOwnerAddress,
      );
    },
    redeemGas(amount) {
      tx.transferObjects([redeem({ coinType: SUI_TYPE_ARG, amount })], network.gasOwnerAddress);
    },
    transferCoins({ coins, withdrawal, recipient }) {
      const withdrawn = withdrawal === undefined ? [] : [redeem(withdrawal)];
      tx.transferObjects([...coins.map((coin) => tx.objectRef(coin)), ...withdrawn], recipient);
    },
    registerEncryptionKey(call) {
      coordinatorCall("register_encryption_key", [
        tx.pure.u32(call.curve),
        bytes(call.encryptionKey),
        bytes(call.signature),
        bytes(call.signerPublicKey),
      ]);
    },
    acceptEncryptedUserShare(call) {
      coordinatorCall("accept_encrypted_user_share", [
        tx.pure.id(call.dwalletId),
        tx.pure.id(call.encryptedUserSecretKeyShareId),
        bytes(call.userOutputSignature),
      ]);
    },
    useConsent(call) {
      const { action, recipient } = call;
      tx.moveCall({
        target: `${network.treasury.packageId}::treasury::${action === "leave" ? "leave" : "refuse_release"}`,
        arguments: [
          treasury(),
          tx.pure.id(call.dwalletId),
          bytes(call.chain),
          ...(recipient === undefined ? [] : [tx.pure.address(recipient)]),
          tx.pure.u64(call.nonce),
          tx.pure.u64(call.expiresEpoch),
          bytes(call.publicKey),
          bytes(call.signature),
        ],
      });
    },
    payDkg(call) {
      treasuryCall("pay_dkg", [
        tx.pure.id(call.networkEncryptionKeyId),
        tx.pure.u32(call.curve),
        bytes(call.userDkgMessage),
        bytes(call.encryptedUserShareAndProof),
        tx.pure.address(call.encryptionKeyAddress),
        bytes(call.userPublicOutput),
        bytes(call.signerPublicKey),
        bytes(call.sessionBytes),
        bytes(call.requestReference),
      ]);
    },
    payPresigns(call) {
      treasuryCall("pay_presigns", [
        tx.pure.id(call.networkEncryptionKeyId),
        tx.pure.u32(call.curve),
        tx.pure.u32(call.signatureAlgorithm),
        tx.pure(bcs.vector(bcs.byteVector()).serialize(call.sessionBytes)),
      ]);
    },
    paySign(call) {
      treasuryCall("pay_sign", [
        tx.pure.id(call.dwalletId),
        tx.pure.id(call.presignId),
        tx.pure.u32(call.curve),
        tx.pure.u32(call.signatureAlgorithm),
        tx.pure.u32(call.hashScheme),
        bytes(call.message),
        bytes(call.userSignMessage),
        bytes(call.sessionBytes),
        bytes(call.requestReference),
      ]);
    },
  };
}

/** An object that an address owns, in one version. */
export interface OwnedRef {
  readonly objectId: string;
  readonly version: string;
  readonly digest: string;
}
