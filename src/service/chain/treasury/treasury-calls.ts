import type { Transaction, TransactionArgument } from "@mysten/sui/transactions";
import { normalizeSuiAddress, SUI_TYPE_ARG } from "@mysten/sui/utils";
import { concatBytes } from "@noble/hashes/utils.js";
import {
  bigIntToLittleEndian,
  encodeUleb128,
  encodeVector,
  hexToBytes,
  MalformedBytesError,
  uint32ToLittleEndian,
} from "../../../protocol/bytes.ts";
import type { TreasuryConsent } from "../../../protocol/chain/treasury-custody.ts";
import type { ChainNetwork, SharedRef } from "../fullnodes/network.ts";

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
  /** Asks the network to check a share of a dWallet that is encrypted for another user. */
  payShare(call: {
    dwalletId: string;
    curve: number;
    /** Sui address of the other user's registered key. */
    recipientAddress: string;
    encryptedUserShareAndProof: Uint8Array;
    /** The share that the new one is a copy of. */
    sourceShareId: string;
    sessionBytes: Uint8Array;
    requestReference: Uint8Array;
  }): void;
  /** Requests the verification of an imported key. */
  payImport(call: Parameters<ChainCalls["payDkg"]>[0]): void;
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
  /** Requests presigns that only this dWallet can use. */
  payDWalletPresigns(call: {
    dwalletId: string;
    signatureAlgorithm: number;
    sessionBytes: readonly Uint8Array[];
  }): void;
  /** Does the same as `paySign` with an imported key. */
  payImportedKeySign(call: Parameters<ChainCalls["paySign"]>[0]): void;
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
  /** Sends a user's half of a signature to the network, and has the Treasury keep it for a number of epochs. */
  payFutureSign(call: Parameters<ChainCalls["paySign"]>[0] & { readonly epochs: bigint }): void;
  /** Completes a half that the Treasury keeps. */
  payPartialSign(call: Omit<Parameters<ChainCalls["paySign"]>[0], "userSignMessage">): void;
}

/**
 * Adds the service's calls to a transaction of the SDK, with explicit references to all objects. Blocks of Move calls
 * alone need no such transaction: see {@link createMoveCalls}.
 */
export function createTreasuryCalls(
  tx: Transaction,
  network: ChainNetwork,
  operatorCap: OwnedRef,
): ChainCalls {
  const redeem = ({ coinType, amount }: { readonly coinType: string; readonly amount: bigint }) =>
    tx.moveCall({
      target: "0x2::coin::redeem_funds",
      typeArguments: [coinType],
      arguments: [tx.withdrawal({ amount, type: coinType })],
    });
  return {
    ...createMoveCalls(builderOf(tx), network, operatorCap),
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
  };
}

function builderOf(tx: Transaction): CallBuilder<TransactionArgument> {
  return {
    shared: (ref) => tx.sharedObjectRef({ ...ref, mutable: true }),
    owned: (ref) => tx.objectRef(ref),
    pure: (bytes) => tx.pure(bytes),
    call: (target, args) => void tx.moveCall({ target, arguments: [...args] }),
  };
}

/** Adds Move calls and their inputs to a block. */
export interface CallBuilder<Argument> {
  /** A shared object, as mutable. */
  shared(ref: SharedRef): Argument;
  owned(ref: OwnedRef): Argument;
  /** The BCS of a value. */
  pure(bytes: Uint8Array): Argument;
  /** @param target `package::module::function` */
  call(target: string, args: readonly Argument[]): void;
}

/** The calls that need nothing but Move calls. */
export type MoveCalls = Omit<ChainCalls, "splitGas" | "redeemGas" | "transferCoins">;

/**
 * Adds the service's Move calls to a block. The order of arguments is that of `move/treasury` for the paid calls and of
 * the Ika coordinator module for the others.
 */
export function createMoveCalls<Argument>(
  builder: CallBuilder<Argument>,
  network: Pick<ChainNetwork, "ikaConfig" | "treasury" | "treasuryRef" | "coordinatorRef">,
  operatorCap: OwnedRef,
): MoveCalls {
  const { pure } = builder;
  const coordinator = () => builder.shared(network.coordinatorRef);
  const treasury = () => builder.shared(network.treasuryRef);
  const bytes = (value: Uint8Array) => pure(encodeVector(value));
  const u32 = (value: number) => pure(uint32ToLittleEndian(value));
  const u64 = (value: bigint) => pure(bigIntToLittleEndian(value, 8));
  const address = (value: string) => pure(addressBytes(value));
  const coordinatorCall = (name: string, args: readonly Argument[]) =>
    builder.call(`${network.ikaConfig.packages.ikaDwallet2pcMpcPackage}::coordinator::${name}`, [
      coordinator(),
      ...args,
    ]);
  const treasuryCall = (name: string, args: readonly Argument[]) =>
    builder.call(`${network.treasury.packageId}::treasury::${name}`, [
      treasury(),
      builder.owned(operatorCap),
      coordinator(),
      ...args,
    ]);
  return {
    registerEncryptionKey(call) {
      coordinatorCall("register_encryption_key", [
        u32(call.curve),
        bytes(call.encryptionKey),
        bytes(call.signature),
        bytes(call.signerPublicKey),
      ]);
    },
    acceptEncryptedUserShare(call) {
      coordinatorCall("accept_encrypted_user_share", [
        address(call.dwalletId),
        address(call.encryptedUserSecretKeyShareId),
        bytes(call.userOutputSignature),
      ]);
    },
    useConsent(call) {
      const { action, recipient } = call;
      builder.call(
        `${network.treasury.packageId}::treasury::${action === "leave" ? "leave" : "refuse_release"}`,
        [
          treasury(),
          address(call.dwalletId),
          bytes(call.chain),
          ...(recipient === undefined ? [] : [address(recipient)]),
          u64(call.nonce),
          u64(call.expiresEpoch),
          bytes(call.publicKey),
          bytes(call.signature),
        ],
      );
    },
    payDkg: (call) => treasuryCall("pay_dkg", newDWallet(call)),
    payImport: (call) => treasuryCall("pay_import", newDWallet(call)),
    payShare(call) {
      treasuryCall("pay_share", [
        address(call.dwalletId),
        u32(call.curve),
        address(call.recipientAddress),
        bytes(call.encryptedUserShareAndProof),
        address(call.sourceShareId),
        bytes(call.sessionBytes),
        bytes(call.requestReference),
      ]);
    },
    payPresigns(call) {
      const all = call.sessionBytes.map(encodeVector);
      treasuryCall("pay_presigns", [
        address(call.networkEncryptionKeyId),
        u32(call.curve),
        u32(call.signatureAlgorithm),
        pure(concatBytes(encodeUleb128(all.length), ...all)),
      ]);
    },
    payDWalletPresigns(call) {
      const all = call.sessionBytes.map(encodeVector);
      treasuryCall("pay_dwallet_presigns", [
        address(call.dwalletId),
        u32(call.signatureAlgorithm),
        pure(concatBytes(encodeUleb128(all.length), ...all)),
      ]);
    },
    paySign: (call) => treasuryCall("pay_sign", newSignature(call)),
    payImportedKeySign: (call) => treasuryCall("pay_imported_key_sign", newSignature(call)),
    payFutureSign: (call) =>
      treasuryCall("pay_future_sign", [
        ...signed(call),
        bytes(call.userSignMessage),
        u64(call.epochs),
        bytes(call.sessionBytes),
        bytes(call.requestReference),
      ]),
    payPartialSign: (call) =>
      treasuryCall("pay_partial_sign", [
        ...signed(call),
        bytes(call.sessionBytes),
        bytes(call.requestReference),
      ]),
  };

  function newDWallet(call: Parameters<ChainCalls["payDkg"]>[0]): Argument[] {
    return [
      address(call.networkEncryptionKeyId),
      u32(call.curve),
      bytes(call.userDkgMessage),
      bytes(call.encryptedUserShareAndProof),
      address(call.encryptionKeyAddress),
      bytes(call.userPublicOutput),
      bytes(call.signerPublicKey),
      bytes(call.sessionBytes),
      bytes(call.requestReference),
    ];
  }

  function newSignature(call: Parameters<ChainCalls["paySign"]>[0]): Argument[] {
    return [
      ...signed(call),
      bytes(call.userSignMessage),
      bytes(call.sessionBytes),
      bytes(call.requestReference),
    ];
  }

  function signed(call: Parameters<ChainCalls["payPartialSign"]>[0]): Argument[] {
    return [
      address(call.dwalletId),
      address(call.presignId),
      u32(call.curve),
      u32(call.signatureAlgorithm),
      u32(call.hashScheme),
      bytes(call.message),
    ];
  }
}

/** Returns the 32 octets of an address or an object id, which may lack leading zeros. Throws for any other text. */
export function addressBytes(address: string): Uint8Array {
  const bytes = hexToBytes(normalizeSuiAddress(address).slice(2));
  if (bytes.length !== ADDRESS_BYTES) throw new MalformedBytesError(`an address has ${ADDRESS_BYTES} bytes`);
  return bytes;
}

const ADDRESS_BYTES = 32;

/** An object that an address owns, in one version. */
export interface OwnedRef {
  readonly objectId: string;
  readonly version: string;
  readonly digest: string;
}
