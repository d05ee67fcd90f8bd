import { bytesToHex } from "@noble/hashes/utils.js";
import { type Holder, Holder_State } from "../../../../../gen/client/tss/v1/sharing_pb.ts";
import { curveNumber } from "../../../../protocol/algorithms.ts";
import { parseEncryptedShare, parseEncryptionKey } from "../../../../protocol/chain/chain-objects.ts";
import { isObjectId } from "../../../../protocol/chain/object-id.ts";
import { pollObject } from "../../../../protocol/chain/poll.ts";
import { shareConsentBytes } from "../../../../protocol/chain/share-consent.ts";
import { publicKeyFromDWalletOutput } from "../../../../protocol/dwallet-output.ts";
import { addressesOfKey, type NamedAddress, suiAddress } from "../../../../protocol/signatures/addresses.ts";
import { verifyEd25519 } from "../../../../protocol/signatures/verify-ed25519.ts";
import type { Action } from "../../action.ts";
import { ENCRYPTED_SHARE, ENCRYPTION_KEY } from "../../chain/object-kinds.ts";
import { readActiveDWallet, readObject } from "../../chain/read-dwallet.ts";
import { invalid } from "../../checks.ts";
import type { ClientContext } from "../../context.ts";
import { TssError } from "../../errors.ts";
import type { Curve } from "../../names.ts";
import { askProject } from "../ask-service.ts";
import { readOwnShares } from "../own-shares.ts";
import { decryptFitting } from "../recovery/recover-within.ts";
import { registerKey } from "../register-key.ts";
import { openSeedShare } from "../seed-share.ts";

/** Registers a recipient's key within an action. */
export async function registerRecipientWithin(
  context: ClientContext,
  action: Action<RegisterRecipientStage>,
  { seed, curve, userReference }: RegisterRecipientArgs,
): Promise<RecipientKey> {
  action.stage("keys");
  await context.engine.ready();
  const keys = action.own(await context.engine.deriveUserKeys({ seed, curve, signal: action.signal }));
  action.stage("register");
  const { encryptionKeyId } = await registerKey(context, action, keys, userReference);
  return { address: keys.signerAddress, encryptionKeyId };
}

/** The stages of a recipient's registration, in order. */
export type RegisterRecipientStage = "keys" | "register";

/** Arguments of `registerRecipient`. */
export interface RegisterRecipientArgs {
  /** The root of the recipient's keys, 32 bytes. Never the owner's seed. */
  readonly seed: Uint8Array;
  /** The dWallet's curve. */
  readonly curve: Curve;
  /** The user that the recipient is: the project's own id of them. Default: no user, or the user of the session. */
  readonly userReference?: string | undefined;
  /** The time limit of the action, in milliseconds. Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** The public key of a recipient, for the owner of a dWallet. */
export interface RecipientKey {
  /**
   * The Sui address of the recipient's key. The owner gets it from the recipient, and not from the service: whoever has
   * the seed of this address can sign.
   */
  readonly address: string;
  /** The object id of the recipient's encryption key on the chain. It is only a hint: the client compares the object. */
  readonly encryptionKeyId: string;
}

/**
 * Shares a dWallet within an action. The arguments contain the action's copy of the seed. It proves the owner's share
 * first, takes the recipient's key from the chain, and encrypts only for a key that the recipient's address has signed.
 */
export async function shareWithin(
  context: ClientContext,
  action: Action<ShareWithStage>,
  args: ShareWithArgs,
): Promise<ShareWithResult> {
  const { seed, curve, dwalletId, recipient, userReference, sessionDigestHex } = args;
  const { engine } = context;
  const { signal } = action;
  action.stage("dwallet");
  const dwallet = await readActiveDWallet(context, action, dwalletId, curve);
  action.stage("recipient");
  const encryptionKey = await readRecipientKey(context, action, curve, recipient);
  action.stage("parameters");
  await engine.ready();
  const { networkEncryptionKeyId } = dwallet;
  const parameters = await context.parameters.load(action, { curve, networkEncryptionKeyId });
  action.stage("share");
  const { share, sessionDigest } = await openSeedShare(context, action, {
    seed,
    curve,
    dwallet,
    parameters,
    sessionDigestHex,
  });
  action.own(share);
  // The proof of a DKG message is of no use here. The encryption and its proof are those of any share.
  const { encryptedUserShareAndProof } = await engine.prepareDkg({
    curve,
    userSecretKeyShare: share,
    sessionDigest,
    parameters,
    encryptionKey,
    signal,
  });
  const keys = action.own(await engine.deriveUserKeys({ seed, curve, signal }));
  action.stage("send");
  const projectId = args.projectId ?? (await askProject(context, action));
  const { epoch } = await context.chainPosition(action);
  const consent = {
    dwalletId,
    recipientAddress: recipient.address,
    encryptedUserShareAndProof,
    projectId,
    userReference,
    expiresEpoch: epoch + VALID_EPOCHS,
  };
  const { signerSecretKey } = keys;
  const signature = await engine.signAsUser({ signerSecretKey, message: shareConsentBytes(consent), signal });
  const { userReference: _, ...signed } = consent;
  const request = { ...signed, signature, ...(userReference !== undefined && { userReference }) };
  const row = await context.call(action, (options) => context.raw.sharing.shareDWallet(request, options));
  const shareId = row.encryptedUserSecretKeyShareId;
  if (row.dwalletId !== dwalletId || row.holderAddress !== recipient.address || !isObjectId(shareId))
    throw new TssError("OUTPUT_MISMATCH", "the service answered with another share");
  action.stage("verify");
  await awaitShare(context, action, { dwalletId, shareId, address: recipient.address });
  // The owner's share has proved this key.
  const publicKeyHex = bytesToHex(publicKeyFromDWalletOutput(curve, dwallet.state.publicOutput));
  const holderAddress = recipient.address;
  return { dwalletId, holderAddress, encryptedUserSecretKeyShareId: shareId, publicKeyHex };
}

/** The stages of a share for another user, in order. */
export type ShareWithStage = "dwallet" | "recipient" | "parameters" | "share" | "send" | "verify";

/** Arguments of `shareWith`. */
export interface ShareWithArgs {
  /** The 32 bytes that the dWallet was made with. */
  readonly seed: Uint8Array;
  readonly curve: Curve;
  readonly dwalletId: string;
  /** The recipient's key, from the recipient's `registerRecipient`. */
  readonly recipient: RecipientKey;
  /** The user that the recipient registered the key for. Default: no user. */
  readonly userReference?: string | undefined;
  /** The project that the owner consents to. Default: the client's own, as the service names it. */
  readonly projectId?: string | undefined;
  /** The `sessionDigestHex` that `onboard` returned. Default: ask the service and the chain. */
  readonly sessionDigestHex?: string | undefined;
  /** The time limit of the action, in milliseconds. Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** A share that the network has verified, and that its recipient can accept. */
export interface ShareWithResult {
  readonly dwalletId: string;
  readonly holderAddress: string;
  readonly encryptedUserSecretKeyShareId: string;
  /** The dWallet's public key, in hex, which the owner's share proves. The recipient of an imported key needs it. */
  readonly publicKeyHex: string;
}

/** The consent outlives an epoch that ends while it is under way. */
const VALID_EPOCHS = 1n;

/**
 * Returns the recipient's encryption key from the chain. The key must be on the curve, and carry the signature of the
 * address that the caller names. Throws RECIPIENT_MISMATCH.
 */
async function readRecipientKey(
  context: ClientContext,
  action: Action,
  curve: Curve,
  { address, encryptionKeyId }: RecipientKey,
): Promise<Uint8Array> {
  const content = await readObject(context, action, ENCRYPTION_KEY, encryptionKeyId);
  if (content === undefined) throw mismatch("the chain has no such encryption key");
  const key = parseEncryptionKey(content);
  const isOwn =
    key.signerAddress === address &&
    suiAddress("ED25519", key.signerPublicKey) === address &&
    verifyEd25519(key.signerPublicKey, key.encryptionKey, key.signature);
  if (!isOwn) throw mismatch("the encryption key is not signed by the recipient's address");
  if (key.curveNumber !== curveNumber(curve))
    throw mismatch("the recipient's encryption key is on another curve than the dWallet");
  return key.encryptionKey;
}

function mismatch(message: string): TssError {
  return new TssError("RECIPIENT_MISMATCH", message);
}

/** Waits until the network has verified a share, which must be of this dWallet and for this address. */
async function awaitShare(
  context: ClientContext,
  action: Action,
  { dwalletId, shareId, address }: ExpectedShare,
): Promise<Uint8Array> {
  const share = await pollObject(
    await context.chainReader(action, ENCRYPTED_SHARE),
    shareId,
    (content) => {
      const found = parseEncryptedShare(content);
      if (found.dwalletId === dwalletId && found.encryptionKeyAddress === address && found.id === shareId)
        return found;
      throw new TssError("SHARE_MISMATCH", "the encrypted share is another dWallet's or another user's");
    },
    ["NetworkVerificationCompleted", "KeyHolderSigned"],
    { timeoutMs: action.remainingMs(), signal: action.signal },
  );
  return share.encryptedShareAndProof;
}

interface ExpectedShare {
  readonly dwalletId: string;
  readonly shareId: string;
  /** The recipient's. */
  readonly address: string;
}

/**
 * Accepts a share within an action. The arguments contain the action's copy of the seed. The recipient signs only for a
 * share that it has decrypted, and that leads to the dWallet's public output on the chain. The share of an imported key
 * determines only half of the output, so the recipient signs only for the public key that its caller names.
 */
export async function acceptShareWithin(
  context: ClientContext,
  action: Action<AcceptShareStage>,
  { seed, curve, dwalletId, publicKeyHex }: AcceptShareArgs,
): Promise<AcceptShareResult> {
  const { engine } = context;
  const { signal } = action;
  action.stage("dwallet");
  const dwallet = await readActiveDWallet(context, action, dwalletId, curve);
  const { publicOutput } = dwallet.state;
  const publicKey = publicKeyFromDWalletOutput(curve, publicOutput);
  if (dwallet.isImportedKey && publicKeyHex === undefined)
    throw invalid("publicKeyHex", "is required, because the dWallet has an imported key; ask its owner");
  if (publicKeyHex !== undefined && publicKeyHex !== bytesToHex(publicKey))
    throw new TssError("OUTPUT_MISMATCH", "the chain shows another public key of the dWallet");
  action.stage("parameters");
  await engine.ready();
  const { networkEncryptionKeyId } = dwallet;
  await context.parameters.load(action, { curve, networkEncryptionKeyId });
  action.stage("share");
  const keys = action.own(await engine.deriveUserKeys({ seed, curve, signal }));
  const { signerAddress: address, signerSecretKey } = keys;
  const { encryptedUserSecretKeyShareId: shareId } = await findOffer(context, action, dwalletId, address);
  const [own] = await readOwnShares(context, action, dwallet, address, [shareId]);
  if (own === undefined || own.isOfDkg) throw new TssError("SHARE_UNVERIFIED", NO_SHARE);
  const encrypted = await awaitShare(context, action, { dwalletId, shareId, address });
  const importedPublicKey = dwallet.isImportedKey ? publicKey : undefined;
  const share = action.own(
    await decryptFitting(context, action, keys, dwallet, encrypted, importedPublicKey),
  );
  action.stage("accept");
  const userOutputSignature = await engine.signAsUser({ signerSecretKey, message: publicOutput, signal });
  const request = { dwalletId, encryptedUserSecretKeyShareId: shareId, userOutputSignature };
  const row = await context.call(action, (options) => context.raw.sharing.acceptShare(request, options));
  if (row.dwalletId !== dwalletId || row.holderAddress !== address || row.state !== Holder_State.Accepted)
    throw new TssError("OUTPUT_MISMATCH", "the service answered with another share");
  return {
    dwallet: { id: dwalletId, curve },
    publicKeyHex: bytesToHex(publicKey),
    addresses: addressesOfKey(curve, publicKey),
    userSecretKeyShareHex: bytesToHex(share.reveal()),
    encryptedUserSecretKeyShareId: shareId,
  };
}

/** The stages of an acceptance, in order. */
export type AcceptShareStage = "dwallet" | "parameters" | "share" | "accept";

/** Arguments of `acceptShare`. */
export interface AcceptShareArgs {
  /** The recipient's 32 bytes, those of `registerRecipient`. */
  readonly seed: Uint8Array;
  readonly curve: Curve;
  readonly dwalletId: string;
  /**
   * The dWallet's public key, in hex, as the owner's `shareWith` or `importKey` returned it. The recipient gets it from
   * the owner, over a channel that the service does not control. Required for an imported key, whose share does not prove which
   * key it is of. Default: the key that the share proves.
   */
  readonly publicKeyHex?: string | undefined;
  /** The time limit of the action, in milliseconds. Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** A share that its recipient can sign with. */
export interface AcceptShareResult {
  readonly dwallet: { readonly id: string; readonly curve: Curve };
  /** The dWallet's public key from the chain, in hex: 33 bytes compressed for the secp curves, else 32. */
  readonly publicKeyHex: string;
  /** The public key's addresses on the chains that it can sign for. */
  readonly addresses: readonly NamedAddress[];
  /** The dWallet's secret share, in hex. The owner knows it too. Protect it like the seed. */
  readonly userSecretKeyShareHex: string;
  readonly encryptedUserSecretKeyShareId: string;
}

/** Returns the share that the service offers to this address. It is only a hint: the chain must show it. */
async function findOffer(
  context: ClientContext,
  action: Action,
  dwalletId: string,
  address: string,
): Promise<Holder> {
  const { holders } = await context.call(action, (options) =>
    context.raw.sharing.listHolders({ dwalletId }, options),
  );
  const own = holders.find(
    ({ holderAddress, state, encryptedUserSecretKeyShareId: id }) =>
      holderAddress === address && isObjectId(id) && !ENDED.includes(state),
  );
  if (own !== undefined) return own;
  throw new TssError("SHARE_UNVERIFIED", NO_SHARE);
}

const ENDED: readonly Holder_State[] = [Holder_State.NetworkVerificationRejected, Holder_State.Removed];
const NO_SHARE = "the chain and the service show no share of the dWallet for this seed";
