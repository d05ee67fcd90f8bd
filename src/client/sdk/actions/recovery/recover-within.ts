import { bytesToHex } from "@noble/hashes/utils.js";
import { parseEncryptedShare } from "../../../../protocol/chain/chain-objects.ts";
import {
  publicKeyFromDWalletOutput,
  userPublicOutputFromDWalletOutput,
} from "../../../../protocol/dwallet-output.ts";
import { addressesOfKey, type NamedAddress } from "../../../../protocol/signatures/addresses.ts";
import { verifyEd25519 } from "../../../../protocol/signatures/verify-ed25519.ts";
import {
  type CryptoEngine,
  EngineError,
  type OutputOfShareInput,
  type UserKeys,
} from "../../../crypto/engine.ts";
import { SecretBytes } from "../../../crypto/secret-bytes.ts";
import type { Action } from "../../action.ts";
import { ENCRYPTED_SHARE } from "../../chain/object-kinds.ts";
import { type CompletedDWallet, readActiveDWallet, readObject } from "../../chain/read-dwallet.ts";
import { readSecretHex } from "../../checks.ts";
import type { ClientContext } from "../../context.ts";
import { TssError } from "../../errors.ts";
import type { Curve } from "../../names.ts";
import { askIfReachable } from "../ask-service.ts";
import { acceptedBy, acceptedImport } from "../imports/accepted-import.ts";
import { openSeedShare } from "../seed-share.ts";
import { type FoundBy, findShareId } from "../share-id.ts";

/**
 * Recovers a share within an action. The arguments contain the action's copy of the seed. It asks the chain first, and
 * the service only for what the chain does not tell, so it needs no service.
 */
export async function recoverWithin(
  context: ClientContext,
  action: Action<RecoverShareStage>,
  args: RecoverShareArgs,
): Promise<RecoverShareResult> {
  const { curve, dwalletId } = args;
  action.stage("dwallet");
  const dwallet = await readActiveDWallet(context, action, dwalletId, curve, askIfReachable);
  action.stage("parameters");
  await context.engine.ready();
  const { networkEncryptionKeyId } = dwallet;
  const parameters = await context.parameters.load(action, { curve, networkEncryptionKeyId });
  action.stage("share");
  const encryptedUserSecretKeyShareId =
    args.encryptedUserSecretKeyShareId ?? (await findShareId(context, action, args, dwallet));
  const source = { ...args, encryptedUserSecretKeyShareId, isChainFirst: true };
  const share = await recoverFrom(context, action, source, dwallet, parameters);
  return {
    userSecretKeyShareHex: bytesToHex(share.reveal()),
    userPublicOutputHex: bytesToHex(userPublicOutputFromDWalletOutput(curve, dwallet.state.publicOutput)),
    encryptedUserSecretKeyShareId,
  };
}

/** The stages of a recovery, in order. */
export type RecoverShareStage = "dwallet" | "parameters" | "share";

/** Arguments of `recoverShare`. */
export interface RecoverShareArgs extends ShareSource {
  readonly dwalletId: string;
  /** The id that `onboard` returned. Default: ask the chain, then the service. */
  readonly encryptedUserSecretKeyShareId?: string | undefined;
  /** The time limit of the action, in milliseconds. Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** A recovered share. */
export interface RecoverShareResult {
  /** The user's secret share, in hex. Protect it like the seed. */
  readonly userSecretKeyShareHex: string;
  readonly userPublicOutputHex: string;
  readonly encryptedUserSecretKeyShareId: string;
}

/** The arguments that recover a dWallet's share, besides the dWallet's id. */
export interface ShareSource {
  /** The 32 bytes that the dWallet was made with. */
  readonly seed: Uint8Array;
  readonly curve: Curve;
  /**
   * The `sessionDigestHex` that `onboard` returned. Default: ask the service and the chain. A fullnode that has pruned
   * the DKG's transaction does not know it.
   */
  readonly sessionDigestHex?: string | undefined;
  /**
   * Decrypts the share from the chain instead of deriving it from the seed. Use it only for dWallets that were made
   * before shares were derived from the seed, or by other software with this seed: the maker of such a dWallet may know
   * the share and sign with it. The seed of somebody with whom the owner has shared the dWallet needs it too. Default
   * false.
   */
  readonly acceptUnverifiedShare?: boolean | undefined;
}

/** Returns the share of an Active dWallet. The action destroys it when it ends. */
async function recoverFrom(
  context: ClientContext,
  action: Action,
  source: ShareSource & FoundBy,
  dwallet: CompletedDWallet,
  parameters: Uint8Array,
): Promise<SecretBytes> {
  const { seed, curve } = source;
  if (source.acceptUnverifiedShare !== true) {
    return action.own((await openSeedShare(context, action, { ...source, dwallet, parameters })).share);
  }
  // The service names the owner's share, and the seed may be another holder's.
  const shareId =
    source.encryptedUserSecretKeyShareId ?? (await findShareId(context, action, source, dwallet));
  const keys = action.own(await context.engine.deriveUserKeys({ seed, curve, signal: action.signal }));
  return action.own(await openShare(context, action, keys, dwallet, shareId));
}

/**
 * Decrypts the user's share of an Active dWallet from the chain, for dWallets whose share was not derived from the
 * seed. The share must belong to the dWallet and to this signer, carry the signer's own signature over the output, and
 * fit the output. These checks show that a client of this seed once accepted the dWallet. They do not show that the
 * share is secret: the party that encrypted it knows it.
 */
async function openShare(
  context: ClientContext,
  action: Action,
  keys: UserKeys,
  dwallet: CompletedDWallet,
  encryptedUserSecretKeyShareId: string,
): Promise<SecretBytes> {
  const { publicOutput } = dwallet.state;
  const content = await readObject(context, action, ENCRYPTED_SHARE, encryptedUserSecretKeyShareId);
  if (content === undefined) throw new TssError("SHARE_MISMATCH", "the chain has no such encrypted share");
  const encrypted = parseEncryptedShare(content);
  if (encrypted.dwalletId !== dwallet.id || encrypted.encryptionKeyAddress !== keys.signerAddress) {
    throw new TssError("SHARE_MISMATCH", "the encrypted share belongs to another dWallet or another seed");
  }
  const { state } = encrypted;
  if (
    state.kind !== "KeyHolderSigned" ||
    !verifyEd25519(keys.signerPublicKey, publicOutput, state.userOutputSignature)
  ) {
    throw new TssError("OUTPUT_MISMATCH", "the seed's signer did not sign this public output");
  }
  return await decryptFitting(context, action, keys, dwallet, encrypted.encryptedShareAndProof);
}

/**
 * Decrypts a share, and returns it if it leads to the dWallet's whole public output. Throws SHARE_MISMATCH otherwise. The
 * public key of an imported key is the given one, or what the chain shows that these keys have accepted.
 */
export async function decryptFitting(
  context: ClientContext,
  action: Action,
  keys: UserKeys,
  dwallet: CompletedDWallet,
  encryptedShareAndProof: Uint8Array,
  givenPublicKey?: Uint8Array,
): Promise<SecretBytes> {
  const { networkEncryptionKeyId } = dwallet;
  const { publicOutput } = dwallet.state;
  const parameters = await context.parameters.load(action, { curve: keys.curve, networkEncryptionKeyId });
  const share = await context.engine.decryptShare({
    curve: keys.curve,
    parameters,
    decryptionKey: keys.decryptionKey,
    dwalletOutput: publicOutput,
    encryptedShareAndProof,
    signal: action.signal,
  });
  let isFit = false;
  try {
    const importedPublicKey = givenPublicKey ?? (await acceptedBy(context, action, dwallet, keys));
    const claim = { curve: keys.curve, parameters, userSecretKeyShare: share, dwalletOutput: publicOutput };
    isFit = await context.engine.isOutputOfShare({ ...claim, importedPublicKey, signal: action.signal });
  } finally {
    if (!isFit) share.destroy();
  }
  if (isFit) return share;
  throw new TssError("SHARE_MISMATCH", "the decrypted share does not fit the dWallet's public output");
}

/**
 * Returns the user's share of an Active dWallet: the given one, or the one that the source yields. Compares it with the
 * whole public output, so that no substituted public key passes. The action destroys a share that this function
 * recovers. Throws SHARE_MISMATCH when a given share does not fit.
 */
export async function openFittingShare(
  context: ClientContext,
  action: Action<"parameters" | "share">,
  dwallet: CompletedDWallet,
  source: ShareSource & FoundBy,
  given: SecretBytes | undefined,
): Promise<FittingShare> {
  const { curve } = source;
  const { networkEncryptionKeyId } = dwallet;
  action.stage("parameters");
  await context.engine.ready();
  const parameters = await context.parameters.load(action, { curve, networkEncryptionKeyId });
  action.stage("share");
  if (given === undefined)
    return { share: await recoverFrom(context, action, source, dwallet, parameters), parameters };
  const claim = {
    curve,
    parameters,
    userSecretKeyShare: given,
    dwalletOutput: dwallet.state.publicOutput,
    importedPublicKey: await acceptedImport(context, action, dwallet, source),
    signal: action.signal,
  };
  if (!(await fits(context.engine, claim)))
    throw new TssError("SHARE_MISMATCH", "the user's share does not fit the dWallet's public output");
  return { share: given, parameters };
}

/** A user's share that fits its dWallet, and the parameters of the dWallet's key. */
interface FittingShare {
  readonly share: SecretBytes;
  readonly parameters: Uint8Array;
}

/** Returns whether a share fits. A share that cannot be parsed does not fit. */
async function fits(engine: CryptoEngine, claim: OutputOfShareInput): Promise<boolean> {
  try {
    return await engine.isOutputOfShare(claim);
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}

/** Reads a key within an action, and proves it when there is a seed. `own` is the action's copy of the seed. */
export async function readKeyWithin(
  context: ClientContext,
  action: Action<ReadKeyStage>,
  args: ReadKeyArgs,
  own: Uint8Array | undefined,
): Promise<ReadKeyResult> {
  const { dwalletId, curve, userSecretKeyShareHex: shareHex } = args;
  action.stage("dwallet");
  const dwallet = await readActiveDWallet(context, action, dwalletId, curve, askIfReachable);
  if (own !== undefined) {
    const given =
      shareHex === undefined
        ? undefined
        : action.own(new SecretBytes(readSecretHex("userSecretKeyShareHex", shareHex)));
    const source = { ...args, seed: own, isChainFirst: true };
    await openFittingShare(context, action, dwallet, source, given);
  }
  const publicKey = publicKeyFromDWalletOutput(curve, dwallet.state.publicOutput);
  return {
    dwallet: { id: dwalletId, curve },
    publicKeyHex: bytesToHex(publicKey),
    addresses: addressesOfKey(curve, publicKey),
  };
}

/** The stages of reading a key, in order. The last two need a seed. */
export type ReadKeyStage = "dwallet" | "parameters" | "share";

/** Arguments of `readKey`. */
export interface ReadKeyArgs extends Partial<ShareSource> {
  readonly dwalletId: string;
  readonly curve: Curve;
  /**
   * The seed that the dWallet was made with. With a seed, the client proves that the public key is the one that the
   * user's share leads to. Without a seed, it trusts the fullnodes for the key.
   */
  readonly seed?: Uint8Array;
  /** The user's share from the onboarding, instead of the one derived from the seed. Needs a seed. */
  readonly userSecretKeyShareHex?: string | undefined;
  /** The time limit of the action, in milliseconds. Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** The public half of a dWallet, from the chain. */
export interface ReadKeyResult {
  readonly dwallet: { readonly id: string; readonly curve: Curve };
  /** The dWallet's public key, in hex: 33 bytes compressed for the secp curves, else 32. */
  readonly publicKeyHex: string;
  /** The public key's addresses on the chains that it can sign for. */
  readonly addresses: readonly NamedAddress[];
}
