import {
  CoordinatorInnerModule,
  type Curve,
  createRandomSessionIdentifier,
  type EncryptedUserSecretKeyShare,
  type ImportDWalletVerificationRequestInput,
  prepareImportedKeyDWalletVerification,
  publicKeyFromDWalletOutput,
  SessionsManagerModule,
  type SignatureAlgorithm,
  type UserShareEncryptionKeys,
} from "@ika.xyz/sdk";
import type { BcsType } from "@mysten/sui/bcs";
import { pollUntil } from "../../support/poll-until.ts";
import { type ActiveDwallet, me, POLL, type SdkDriver } from "./sdk-driver.ts";
import { isValid, type SdkAlgorithm } from "./sdk-triples.ts";

/**
 * Waits one turn of the event loop after the WebAssembly has blocked the thread for seconds, so that `fetch` notices
 * which idle connections the localnet has closed meanwhile, before it sends a request on one of them.
 */
export const noticeClosedConnections = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What a user signs with: the share itself, the share encrypted to the user, or nothing if the share is public. */
export interface SigningShare {
  readonly secretShare?: Uint8Array;
  readonly publicOutput?: Uint8Array;
  readonly encryptedUserSecretKeyShare?: EncryptedUserSecretKeyShare;
}

/** Signs a message through `IkaTransaction.requestSign` and returns the signature. */
export async function signWithSdk(
  sdk: SdkDriver,
  keys: UserShareEncryptionKeys | undefined,
  dwallet: ActiveDwallet,
  { curve, algorithm, hash, message, share }: SdkAlgorithm & SignRequest,
): Promise<Uint8Array> {
  const presign = await sdk.readyPresign(curve, algorithm);
  const executed = await sdk.execute(keys, async (tx, ikaTransaction, coins) => {
    const messageApproval = ikaTransaction.approveMessage({
      dWalletCap: dwallet.dwallet_cap_id,
      curve: curve as never,
      signatureAlgorithm: algorithm as never,
      hashScheme: hash as never,
      message,
    });
    await ikaTransaction.requestSign({
      dWallet: dwallet as never,
      messageApproval,
      hashScheme: hash as never,
      verifiedPresignCap: ikaTransaction.verifyPresignCap({ presign }),
      presign,
      message,
      signatureScheme: algorithm as never,
      ...share,
      ...coins,
    });
    await noticeClosedConnections();
    tx.transferObjects([coins.suiCoin], me);
  });
  return sdk.signatureOf(sdk.signIdOf(executed));
}

export interface SignRequest {
  readonly curve: Curve;
  readonly message: Uint8Array;
  readonly share: SigningShare;
}

/** The public key in a dWallet's output, as the SDK reads it. */
export function publicKeyOf(curve: Curve, dwallet: ActiveDwallet): Promise<Uint8Array> {
  return publicKeyFromDWalletOutput(curve, Uint8Array.from(dwallet.state.Active.public_output));
}

/** True for a signature that verifies under the key, and does not verify after a bit of it was flipped. */
export function isSound(claim: Parameters<typeof isValid>[0]): boolean {
  const flipped = claim.signature.map((byte, index) => (index === 40 ? byte ^ 1 : byte));
  return isValid(claim) && !isValid({ ...claim, signature: flipped });
}

/** The data of a request event, such as `CoordinatorInnerModule.DWalletDKGRequestEvent`, that a transaction emitted. */
export function requestOf<T>(executed: Executed, codec: { name: string; $inferType: T }): T {
  const name = codec.name.split("::").at(-1);
  const event = executed.events.find((item) => item.eventType.endsWith(`::${name}>`));
  if (event === undefined) throw new Error(`no ${name} in the transaction`);
  return SessionsManagerModule.DWalletSessionEvent(codec as unknown as BcsType<T>).parse(event.bcs)
    .event_data as T;
}

type Executed = Awaited<ReturnType<SdkDriver["execute"]>>;

/** A dWallet of a user's own key, that the user has accepted. */
export interface ImportedDwallet {
  readonly dwallet: ActiveDwallet;
  readonly shareId: string;
}

/** Imports a private key in the SDK's form: on the secp curves, a byte for its length stands before it. */
export async function importKey(
  sdk: SdkDriver,
  keys: UserShareEncryptionKeys,
  curve: Curve,
  privateKey: Uint8Array,
): Promise<ImportedDwallet> {
  const session = createRandomSessionIdentifier();
  const input = await prepareImportedKeyDWalletVerification(sdk.ika, curve, session, me, keys, privateKey);
  const request = await requestImport(sdk, keys, curve, input, session);
  const shareId = request.encrypted_user_secret_key_share_id;
  const requested = { dwalletId: request.dwallet_id, shareId };
  const dwallet = await sdk.accept(keys, { userPublicOutput: input.userPublicOutput }, requested);
  return { dwallet, shareId };
}

/** Requests the import, and returns the request event. */
export async function requestImport(
  sdk: SdkDriver,
  keys: UserShareEncryptionKeys,
  curve: Curve,
  importDWalletVerificationRequestInput: ImportDWalletVerificationRequestInput,
  session: Uint8Array,
) {
  await noticeClosedConnections();
  const executed = await sdk.execute(keys, async (tx, ikaTransaction, coins) => {
    const cap = await ikaTransaction.requestImportedKeyDWalletVerification({
      importDWalletVerificationRequestInput,
      curve,
      signerPublicKey: keys.getSigningPublicKeyBytes(),
      sessionIdentifier: ikaTransaction.registerSessionIdentifier(session),
      ...coins,
    });
    tx.transferObjects([cap, coins.suiCoin], me);
  });
  return requestOf(executed, CoordinatorInnerModule.DWalletImportedKeyVerificationRequestEvent);
}

/** A presign for an imported key: ECDSA needs one of that dWallet, every other algorithm a global one. */
export async function importedKeyPresign(
  sdk: SdkDriver,
  dwallet: ActiveDwallet,
  curve: Curve,
  signatureAlgorithm: SignatureAlgorithm,
) {
  if (!signatureAlgorithm.startsWith("ECDSA")) return sdk.readyPresign(curve, signatureAlgorithm);
  const executed = await sdk.execute(undefined, async (tx, ikaTransaction, coins) => {
    const cap = ikaTransaction.requestPresign({
      dWallet: dwallet as never,
      signatureAlgorithm: signatureAlgorithm as never,
      ...coins,
    });
    tx.transferObjects([cap, coins.suiCoin], me);
  });
  const { presign_id } = requestOf(executed, CoordinatorInnerModule.PresignRequestEvent);
  return sdk.ika.getPresignInParticularState(presign_id, "Completed", POLL);
}

/** Signs a message through `IkaTransaction.requestSignWithImportedKey` and returns the signature. */
export async function signWithImportedKey(
  sdk: SdkDriver,
  keys: UserShareEncryptionKeys | undefined,
  dwallet: ActiveDwallet,
  { curve, algorithm, hash, message, share }: SdkAlgorithm & SignRequest,
): Promise<Uint8Array> {
  const presign = await importedKeyPresign(sdk, dwallet, curve, algorithm);
  const executed = await sdk.execute(keys, async (tx, ikaTransaction, coins) => {
    const importedKeyMessageApproval = ikaTransaction.approveImportedKeyMessage({
      dWalletCap: dwallet.dwallet_cap_id,
      curve: curve as never,
      signatureAlgorithm: algorithm as never,
      hashScheme: hash as never,
      message,
    });
    await ikaTransaction.requestSignWithImportedKey({
      dWallet: dwallet as never,
      importedKeyMessageApproval,
      hashScheme: hash as never,
      verifiedPresignCap: ikaTransaction.verifyPresignCap({ presign }),
      presign,
      message,
      signatureScheme: algorithm as never,
      ...share,
      ...coins,
    });
    await noticeClosedConnections();
    tx.transferObjects([coins.suiCoin], me);
  });
  return sdk.signatureOf(sdk.signIdOf(executed));
}

/** Polls a dWallet, as the SDK reads it, until `done`. */
export function dwalletWhen(
  sdk: SdkDriver,
  dwalletId: string,
  done: (dwallet: ActiveDwallet) => boolean,
): Promise<ActiveDwallet> {
  return pollUntil(
    async () => {
      const dwallet = (await sdk.ika.getDWallet(dwalletId)) as ActiveDwallet;
      return done(dwallet) && dwallet;
    },
    { timeoutMs: POLL.timeout, intervalMs: POLL.interval },
  );
}
