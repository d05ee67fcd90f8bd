import { bcs } from "@mysten/sui/bcs";
import type { Transaction } from "@mysten/sui/transactions";
import { SUI_TYPE_ARG } from "@mysten/sui/utils";
import type { ChainCalls } from "../calls.ts";
import type { ChainNetwork } from "../network.ts";

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
