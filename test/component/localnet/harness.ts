import { randomBytes } from "node:crypto";
import {
  CoordinatorInnerModule,
  coordinatorTransactions,
  type IkaConfig,
  SessionsManagerModule,
} from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import type { SuiClientTypes } from "@mysten/sui/client";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction, type TransactionArgument } from "@mysten/sui/transactions";
import { SUI_TYPE_ARG } from "@mysten/sui/utils";
import { type Localnet, type LocalnetOptions, startLocalnet } from "../../../src/localnet/localnet.ts";
import { localnetHotWalletSecret } from "../../../src/localnet/seed.ts";
import { createCheapMpc } from "../../unit/localnet/cheap-mpc.ts";

const INCLUDE = { effects: true, events: true, objectTypes: true, balanceChanges: true } as const;

export type Executed = SuiClientTypes.Transaction<typeof INCLUDE>;

/** The default hot wallet's key. */
export const hotWallet = Ed25519Keypair.fromSecretKey(localnetHotWalletSecret());

/** A localnet with a cheap MPC, its client, and the tests' building blocks for transactions. */
export interface Harness {
  readonly net: Localnet;
  readonly client: SuiGrpcClient;
  readonly config: IkaConfig;
  coordinator(tx: Transaction): TransactionArgument;
  treasury(tx: Transaction): TransactionArgument;
  /** Executes as the hot wallet. Throws with the abort's text on failure. */
  run(build: (tx: Transaction) => void): Promise<Executed>;
  /** Executes as the hot wallet with a fixed budget, so that a failing transaction also reaches the chain. */
  runToFailure(build: (tx: Transaction) => void): Promise<Executed>;
  treasuryCall(
    tx: Transaction,
    name: string,
    args: TransactionArgument[],
    capId?: string,
  ): TransactionArgument;
  close(): Promise<void>;
}

export async function startHarness(options: LocalnetOptions = {}): Promise<Harness> {
  const net = await startLocalnet({ mpc: createCheapMpc(), ...options });
  const client = new SuiGrpcClient({ network: "localnet", baseUrl: net.url, format: "binary" });
  const config = net.ikaConfig;
  const shared = (tx: Transaction, objectId: string) =>
    tx.sharedObjectRef({ objectId, initialSharedVersion: 1, mutable: true });
  const execute = async (tx: Transaction): Promise<SuiClientTypes.TransactionResult<typeof INCLUDE>> => {
    tx.setSenderIfNotSet(hotWallet.toSuiAddress());
    return client.signAndExecuteTransaction({ transaction: tx, signer: hotWallet, include: INCLUDE });
  };
  const harness: Harness = {
    net,
    client,
    config,
    coordinator: (tx) => shared(tx, config.objects.ikaDWalletCoordinator.objectID),
    treasury: (tx) => shared(tx, net.treasury.treasuryId),
    async run(build) {
      const tx = new Transaction();
      build(tx);
      const result = await execute(tx);
      if (result.$kind === "FailedTransaction")
        throw new Error(result.FailedTransaction.status.error?.message);
      return result.Transaction;
    },
    async runToFailure(build) {
      const tx = new Transaction();
      build(tx);
      tx.setGasBudget(1_000_000_000);
      const gas = (await client.listCoins({ owner: hotWallet.toSuiAddress() })).objects.find(
        (coin) => BigInt(coin.balance) > 10_000_000_000n,
      );
      if (gas === undefined) throw new Error("the hot wallet has no gas");
      tx.setGasPayment([gas]);
      tx.setGasPrice(1_000);
      const resolved = await withReferences(tx, client);
      const result = await execute(resolved);
      if (result.$kind === "Transaction") throw new Error("the transaction was meant to fail");
      return result.FailedTransaction;
    },
    treasuryCall(tx, name, args, capId = net.treasury.operatorCapIds[0] as string) {
      return tx.moveCall({
        target: `${net.treasury.packageId}::treasury::${name}`,
        arguments: [harness.treasury(tx), tx.object(capId), ...args],
      });
    },
    close: () => net.close(),
  };
  return harness;
}

/** Resolves owned inputs without a simulation, which would refuse an intentionally failing transaction. */
async function withReferences(tx: Transaction, client: SuiGrpcClient): Promise<Transaction> {
  const data = tx.getData();
  for (const input of data.inputs) {
    if (input.$kind !== "UnresolvedObject") continue;
    const { object } = await client.getObject({ objectId: input.UnresolvedObject.objectId });
    const { objectId, version, digest } = object;
    Object.assign(input, {
      $kind: "Object",
      Object: { $kind: "ImmOrOwnedObject", ImmOrOwnedObject: { objectId, version, digest } },
    });
    Reflect.deleteProperty(input, "UnresolvedObject");
  }
  return Transaction.from(JSON.stringify(data));
}

/** A user with a signing key and a stand-in for a class-groups key. */
export function createUser() {
  const keypair = new Ed25519Keypair();
  return {
    keypair,
    address: keypair.toSuiAddress(),
    publicKey: keypair.getPublicKey().toRawBytes(),
    encryptionKey: Uint8Array.from({ length: 261 }, (_, index) => index % 256),
  };
}

export type User = ReturnType<typeof createUser>;

export const bytes = (value: Uint8Array) => bcs.byteVector().serialize(value);
export const session = () => Uint8Array.from(randomBytes(32));

export async function registerKey(harness: Harness, user: User, curve = 0): Promise<Executed> {
  const signature = await user.keypair.sign(user.encryptionKey);
  return harness.run((tx) =>
    coordinatorTransactions.registerEncryptionKeyTx(
      harness.config,
      harness.coordinator(tx) as never,
      curve,
      user.encryptionKey,
      signature,
      user.publicKey,
      tx,
    ),
  );
}

/** Adds `pay_dkg`; a first byte 0xff in the user's message makes the cheap MPC reject it. */
export function payDkg(
  harness: Harness,
  tx: Transaction,
  user: User,
  options: {
    curve?: number;
    networkKeyId?: string;
    message?: Uint8Array;
    session?: Uint8Array;
    capId?: string;
  } = {},
): void {
  const args = [
    harness.coordinator(tx),
    tx.pure.id(options.networkKeyId ?? harness.net.networkEncryptionKeyId),
    tx.pure.u32(options.curve ?? 0),
    tx.pure(bytes(options.message ?? new Uint8Array(1381))),
    tx.pure(bytes(new Uint8Array(1296))),
    tx.pure.address(user.address),
    tx.pure(bytes(new Uint8Array(238))),
    tx.pure(bytes(user.publicKey)),
    tx.pure(bytes(options.session ?? session())),
    tx.pure(bytes(new Uint8Array(16))),
  ];
  harness.treasuryCall(tx, "pay_dkg", args, options.capId);
}

/** Adds `pay_presigns`. */
/** Pays from the hot wallet into an address balance (SIP-58). */
export function payFunds({ run }: Harness, recipient: string, balance: bigint, type = SUI_TYPE_ARG) {
  return run((tx) =>
    tx.moveCall({
      target: "0x2::balance::send_funds",
      typeArguments: [type],
      arguments: [tx.balance({ type, balance }), tx.pure.address(recipient)],
    }),
  );
}

export function payPresigns(
  harness: Harness,
  tx: Transaction,
  options: { curve?: number; algorithm?: number; count?: number; capId?: string } = {},
): void {
  const sessions = Array.from({ length: options.count ?? 1 }, session);
  const args = [
    harness.coordinator(tx),
    tx.pure.id(harness.net.networkEncryptionKeyId),
    tx.pure.u32(options.curve ?? 0),
    tx.pure.u32(options.algorithm ?? 0),
    tx.pure(bcs.vector(bcs.byteVector()).serialize(sessions)),
  ];
  harness.treasuryCall(tx, "pay_presigns", args, options.capId);
}

/** Adds `pay_sign`; a first byte 0xff in the user's sign message makes the cheap MPC reject it. */
export function paySign(
  harness: Harness,
  tx: Transaction,
  ids: { dwalletId: string; presignId: string },
  options: { curve?: number; algorithm?: number; hash?: number; userMessage?: Uint8Array } = {},
): void {
  harness.treasuryCall(tx, "pay_sign", [
    harness.coordinator(tx),
    tx.pure.id(ids.dwalletId),
    tx.pure.id(ids.presignId),
    tx.pure.u32(options.curve ?? 0),
    tx.pure.u32(options.algorithm ?? 0),
    tx.pure.u32(options.hash ?? 0),
    tx.pure(bytes(new TextEncoder().encode("a message"))),
    tx.pure(bytes(options.userMessage ?? new Uint8Array(7144))),
    tx.pure(bytes(session())),
    tx.pure(bytes(new Uint8Array(16))),
  ]);
}

const { DWalletSessionEvent } = SessionsManagerModule;
const DkgEvent = DWalletSessionEvent(CoordinatorInnerModule.DWalletDKGRequestEvent);
const PresignEvent = DWalletSessionEvent(CoordinatorInnerModule.PresignRequestEvent);
const SignEvent = DWalletSessionEvent(CoordinatorInnerModule.SignRequestEvent);

export function dkgOf(executed: Executed) {
  return DkgEvent.parse(eventBytes(executed, "::DWalletDKGRequestEvent>")[0] as Uint8Array).event_data;
}

export function presignIdsOf(executed: Executed): string[] {
  return eventBytes(executed, "::PresignRequestEvent>").map(
    (item) => PresignEvent.parse(item).event_data.presign_id,
  );
}

export function signIdOf(executed: Executed): string {
  return SignEvent.parse(eventBytes(executed, "::SignRequestEvent>")[0] as Uint8Array).event_data.sign_id;
}

function eventBytes(executed: Executed, suffix: string): Uint8Array[] {
  return executed.events.filter((event) => event.eventType.endsWith(suffix)).map((event) => event.bcs);
}

/** Reads an object's contents until `done` holds; the network writes within milliseconds. */
export async function contentsWhen<T>(
  harness: Harness,
  objectId: string,
  codec: { parse(bytes: Uint8Array): T },
  done: (value: T) => boolean,
): Promise<T> {
  for (;;) {
    const { object } = await harness.client.getObject({ objectId, include: { content: true } });
    const value = codec.parse(object.content);
    if (done(value)) return value;
  }
}

/** A registered key and an active dWallet. */
export async function activeDwallet(
  harness: Harness,
): Promise<{ user: User; dwalletId: string; shareId: string }> {
  const user = createUser();
  await registerKey(harness, user);
  const dkg = dkgOf(await harness.run((tx) => payDkg(harness, tx, user)));
  const shareId = dkg.user_secret_key_share.Encrypted?.encrypted_user_secret_key_share_id as string;
  const dwallet = await contentsWhen(
    harness,
    dkg.dwallet_id,
    CoordinatorInnerModule.DWallet,
    (value) => value.state.$kind === "AwaitingKeyHolderSignature",
  );
  const output = Uint8Array.from(dwallet.state.AwaitingKeyHolderSignature?.public_output ?? []);
  await acceptShare(harness, dkg.dwallet_id, shareId, await user.keypair.sign(output));
  return { user, dwalletId: dkg.dwallet_id, shareId };
}

export function acceptShare(
  harness: Harness,
  dwalletId: string,
  shareId: string,
  signature: Uint8Array,
): Promise<Executed> {
  return harness.run((tx) =>
    coordinatorTransactions.acceptEncryptedUserShare(
      harness.config,
      harness.coordinator(tx) as never,
      dwalletId,
      shareId,
      signature,
      tx,
    ),
  );
}

/** The ids of presigns that are ready. */
export async function readyPresigns(
  harness: Harness,
  options: { curve?: number; algorithm?: number; count?: number } = {},
): Promise<string[]> {
  const ids = presignIdsOf(await harness.run((tx) => payPresigns(harness, tx, options)));
  for (const id of ids) {
    await contentsWhen(
      harness,
      id,
      CoordinatorInnerModule.PresignSession,
      (value) => value.state.$kind === "Completed",
    );
  }
  return ids;
}

/** `module code` of the abort that ended a transaction. */
export function abortOf(executed: Executed): string {
  const error = executed.status.error;
  if (error?.$kind !== "MoveAbort") throw new Error(`no abort: ${error?.message ?? "success"}`);
  return `${error.MoveAbort.location?.module} ${error.MoveAbort.abortCode}`;
}
