import {
  CoordinatorInnerModule,
  type Curve,
  coordinatorTransactions,
  type DKGRequestInput,
  type DWalletWithState,
  type Hash,
  IkaClient,
  IkaTransaction,
  SessionsManagerModule,
  type SignatureAlgorithm,
  type UserShareEncryptionKeys,
} from "@ika.xyz/sdk";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { localnetHotWalletSecret } from "../../../src/localnet/seed.ts";
import { pollUntil } from "../../support/poll-until.ts";
import type { LocalnetChild } from "./localnet-child.ts";

const { DWalletDKGRequestEvent, PresignRequestEvent, SignRequestEvent } = CoordinatorInnerModule;
const DkgEvent = SessionsManagerModule.DWalletSessionEvent(DWalletDKGRequestEvent);
const PresignEvent = SessionsManagerModule.DWalletSessionEvent(PresignRequestEvent);
const SignEvent = SessionsManagerModule.DWalletSessionEvent(SignRequestEvent);

/** The polling interval of the SDK's own waiters, in milliseconds. */
export const POLL = { interval: 25, maxInterval: 100, timeout: 120_000 } as const;

/** The sender of all transactions. */
const sender = Ed25519Keypair.fromSecretKey(localnetHotWalletSecret());
export const me = sender.toSuiAddress();

export type ActiveDwallet = DWalletWithState<"Active">;
export type Coins = { ikaCoin: never; suiCoin: never };
export type SdkDriver = Awaited<ReturnType<typeof connectSdk>>;

/**
 * The steps of the user and the payer on a network, only through the Ika and Sui SDKs.
 *
 * @param signer sends and pays for all transactions; default the hot wallet
 * @param known a client of the network that has computed its parameters already, which takes many seconds
 */
export async function connectSdk(network: Omit<LocalnetChild, "child">, signer = sender, known?: IkaClient) {
  const me = signer.toSuiAddress();
  const client = new SuiGrpcClient({ network: "localnet", baseUrl: network.url, format: "binary" });
  const ika = known ?? new IkaClient({ suiClient: client, config: network.ikaConfig });
  if (known === undefined) await ika.initialize();
  const { id: networkKeyId, networkDKGOutputID } = await ika.getLatestNetworkEncryptionKey();
  const networkOutput = await ika.readTableVecAsRawBytes(networkDKGOutputID);
  return {
    ika,
    networkOutput,
    execute,
    registerKey,
    requestDkg,
    accept,
    readyPresign,
    requestSign,
    signIdOf: (executed: Executed) =>
      SignEvent.parse(eventOf(executed, "SignRequestEvent")).event_data.sign_id,
    signatureOf,
    settledSign,
    settle,
  };

  async function execute(
    keys: UserShareEncryptionKeys | undefined,
    build: (tx: Transaction, ikaTransaction: IkaTransaction, coins: Coins) => Promise<void>,
  ) {
    const tx = new Transaction();
    tx.setSender(me);
    const ikaTransaction = new IkaTransaction({
      ikaClient: ika,
      transaction: tx,
      ...(keys === undefined ? {} : { userShareEncryptionKeys: keys }),
    });
    const [ikaCoin] = (await client.listCoins({ owner: me, coinType: network.ikaCoinType })).objects;
    const [suiCoin] = tx.splitCoins(tx.gas, [100_000_000]);
    const coins = {
      ikaCoin: tx.object((ikaCoin as { objectId: string }).objectId),
      suiCoin,
    } as unknown as Coins;
    await build(tx, ikaTransaction, coins);
    const result = await client.signAndExecuteTransaction({
      transaction: tx,
      signer,
      include: { events: true },
    });
    if (result.$kind === "FailedTransaction") throw new Error(result.FailedTransaction.status.error?.message);
    await client.waitForTransaction({ digest: result.Transaction.digest, pollSchedule: [0, 25, 100] });
    return result.Transaction;
  }

  async function registerKey(keys: UserShareEncryptionKeys, curve: Curve): Promise<void> {
    await execute(keys, async (tx, ikaTransaction, coins) => {
      await ikaTransaction.registerEncryptionKey({ curve });
      tx.transferObjects([coins.suiCoin], me);
    });
    const active = await ika.getActiveEncryptionKey(keys.getSuiAddress());
    if (active.signer_address !== keys.getSuiAddress()) throw new Error("another key is active");
  }

  async function requestDkg(
    keys: UserShareEncryptionKeys,
    curve: Curve,
    dkgRequestInput: DKGRequestInput,
    session: Uint8Array,
  ): Promise<{ dwalletId: string; shareId: string }> {
    const executed = await execute(keys, async (tx, ikaTransaction, coins) => {
      const [cap] = (await ikaTransaction.requestDWalletDKG({
        dkgRequestInput,
        sessionIdentifier: ikaTransaction.registerSessionIdentifier(session),
        dwalletNetworkEncryptionKeyId: networkKeyId,
        curve,
        ...coins,
      })) as unknown as never[];
      tx.transferObjects([cap as never, coins.suiCoin], me);
    });
    const { dwallet_id, user_secret_key_share } = DkgEvent.parse(
      eventOf(executed, "DWalletDKGRequestEvent"),
    ).event_data;
    const shareId = user_secret_key_share.Encrypted?.encrypted_user_secret_key_share_id;
    return { dwalletId: dwallet_id, shareId: shareId as string };
  }

  /** Waits for the network, lets the SDK compare the outputs and sign, and waits for Active. */
  async function accept(
    keys: UserShareEncryptionKeys,
    dkg: Pick<DKGRequestInput, "userPublicOutput">,
    requested: { dwalletId: string; shareId: string },
  ): Promise<ActiveDwallet> {
    const dWallet = await ika.getDWalletInParticularState(
      requested.dwalletId,
      "AwaitingKeyHolderSignature",
      POLL,
    );
    await execute(keys, async (tx, ikaTransaction, coins) => {
      await ikaTransaction.acceptEncryptedUserShare({
        dWallet: dWallet as never,
        userPublicOutput: dkg.userPublicOutput,
        encryptedUserSecretKeyShareId: requested.shareId,
      });
      tx.transferObjects([coins.suiCoin], me);
    });
    return ika.getDWalletInParticularState(requested.dwalletId, "Active", POLL);
  }

  async function readyPresign(curve: Curve, signatureAlgorithm: SignatureAlgorithm) {
    const executed = await execute(undefined, async (tx, ikaTransaction, coins) => {
      const cap = ikaTransaction.requestGlobalPresign({
        dwalletNetworkEncryptionKeyId: networkKeyId,
        curve: curve as never,
        signatureAlgorithm: signatureAlgorithm as never,
        ...coins,
      });
      tx.transferObjects([cap, coins.suiCoin], me);
    });
    const { presign_id } = PresignEvent.parse(eventOf(executed, "PresignRequestEvent")).event_data;
    return ika.getPresignInParticularState(presign_id, "Completed", POLL);
  }

  /** Requests a signature with a message that was computed earlier. Returns the sign id. */
  async function requestSign(
    dwallet: ActiveDwallet,
    presignCapId: string,
    curve: Curve,
    signatureAlgorithm: SignatureAlgorithm,
    hashScheme: Hash,
    userMessage: Uint8Array,
    approved: Uint8Array,
  ): Promise<string> {
    const executed = await execute(undefined, async (tx, ikaTransaction, coins) => {
      const approval = ikaTransaction.approveMessage({
        dWalletCap: dwallet.dwallet_cap_id,
        curve: curve as never,
        signatureAlgorithm: signatureAlgorithm as never,
        hashScheme: hashScheme as never,
        message: approved,
      });
      coordinatorTransactions.requestSignAndReturnId(
        ika.ikaConfig,
        tx.object(ika.ikaConfig.objects.ikaDWalletCoordinator.objectID),
        ikaTransaction.verifyPresignCap({ unverifiedPresignCap: presignCapId }),
        approval,
        userMessage,
        ikaTransaction.createSessionIdentifier(),
        coins.ikaCoin,
        coins.suiCoin,
        tx,
      );
      tx.transferObjects([coins.suiCoin], me);
    });
    return SignEvent.parse(eventOf(executed, "SignRequestEvent")).event_data.sign_id;
  }

  /**
   * Returns the signature from the chain. ECDSA is converted from v, r, s to r, s, v, because the SDK's own reader
   * drops v.
   */
  async function signatureOf(signId: string): Promise<Uint8Array> {
    const settled = await settledSign(signId);
    if (settled !== "Completed") throw new Error(`the sign session ended ${settled}`);
    const { object } = await client.getObject({ objectId: signId, include: { content: true } });
    const { state } = CoordinatorInnerModule.SignSession.parse(object.content);
    const raw = Uint8Array.from(state.Completed?.signature ?? []);
    return raw.length === 65 ? Uint8Array.from([...raw.slice(1), raw[0] as number]) : raw;
  }

  function settledSign(signId: string): Promise<string> {
    return settle(signId, CoordinatorInnerModule.SignSession, (kind) => kind !== "Requested");
  }

  /** Polls an object until its state is final, and returns the state's name. */
  async function settle(
    objectId: string,
    codec: { parse(bytes: Uint8Array): { state: { $kind: string } } },
    done: (kind: string) => boolean,
  ): Promise<string> {
    return pollUntil(
      async () => {
        const { object } = await client.getObject({ objectId, include: { content: true } });
        const kind = codec.parse(object.content).state.$kind;
        return done(kind) && kind;
      },
      { timeoutMs: POLL.timeout, intervalMs: POLL.interval },
    );
  }
}

type Executed = { events: { eventType: string; bcs: Uint8Array }[] };

function eventOf(executed: Executed, name: string): Uint8Array {
  const event = executed.events.find((item) => item.eventType.endsWith(`::${name}>`));
  if (event === undefined) throw new Error(`no ${name} in the transaction`);
  return event.bcs;
}
