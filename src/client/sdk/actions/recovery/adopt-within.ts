import { fromBase58 } from "@mysten/sui/utils";
import { bytesToHex } from "@noble/hashes/utils.js";
import { adoptionConsentBytes } from "../../../../protocol/chain/adoption-consent.ts";
import { publicKeyFromDWalletOutput } from "../../../../protocol/dwallet-output.ts";
import { addressesOfKey, type NamedAddress } from "../../../../protocol/signatures/addresses.ts";
import type { Action } from "../../action.ts";
import { readActiveDWallet } from "../../chain/read-dwallet.ts";
import type { ClientContext } from "../../context.ts";
import { checkCustody } from "../../custody/read-custody.ts";
import { TssError } from "../../errors.ts";
import type { Curve } from "../../names.ts";
import { askProject } from "../ask-service.ts";
import { findOwnShares, readOwnShares } from "../own-shares.ts";
import { registerKey } from "../register-key.ts";
import { openSeedShare } from "../seed-share.ts";

/**
 * Adopts a dWallet within an action. The arguments contain the action's copy of the seed. It proves the share first, so
 * it consents only for a dWallet that the seed can sign with. It takes every value that it signs from the chain, except
 * the project's id.
 */
export async function adoptWithin(
  context: ClientContext,
  action: Action<AdoptDWalletStage>,
  args: AdoptDWalletArgs,
): Promise<AdoptDWalletResult> {
  const { seed, curve, dwalletId, name, userReference } = args;
  const { engine } = context;
  const { signal } = action;
  action.stage("dwallet");
  const dwallet = await readActiveDWallet(context, action, dwalletId, curve, async () => {});
  action.stage("parameters");
  await engine.ready();
  const { networkEncryptionKeyId } = dwallet;
  const parameters = await context.parameters.load(action, { curve, networkEncryptionKeyId });
  action.stage("share");
  const keys = action.own(await engine.deriveUserKeys({ seed, curve, signal }));
  const { encryptedUserSecretKeyShareId: knownShareId } = args;
  const [own] =
    knownShareId === undefined
      ? await findOwnShares(context, action, dwallet, keys.signerAddress)
      : await readOwnShares(context, action, dwallet, keys.signerAddress, [knownShareId]);
  if (own === undefined || !own.isAccepted)
    throw new TssError(
      "SHARE_UNVERIFIED",
      "the chain shows no accepted share of the dWallet under this seed's key",
    );
  const { id: encryptedUserSecretKeyShareId } = own;
  const { share, sessionDigest } = await openSeedShare(context, action, {
    seed,
    curve,
    dwallet,
    parameters,
    encryptedUserSecretKeyShareId,
    sessionDigestHex: args.sessionDigestHex,
    isChainFirst: true,
  });
  action.own(share);
  await checkCustody(context, action, dwallet, keys.signerAddress);
  action.stage("register");
  const { encryptionKeyId } = await registerKey(context, action, keys, userReference);
  action.stage("adopt");
  const projectId = args.projectId ?? (await askProject(context, action));
  const { chainIdentifier, epoch } = await context.chainPosition(action);
  const consent = {
    chain: fromBase58(chainIdentifier),
    treasuryId: await context.treasuryId(action),
    dwalletId,
    encryptedUserSecretKeyShareId,
    sessionDigest,
    projectId,
    userReference,
    expiresEpoch: epoch + VALID_EPOCHS,
  };
  const { signerSecretKey } = keys;
  const message = adoptionConsentBytes(consent);
  const signature = await engine.signAsUser({ signerSecretKey, message, signal });
  const { userReference: _, ...signed } = consent;
  const request = {
    ...signed,
    encryptionKeyId,
    signature,
    ...(name !== undefined && { name }),
    ...(userReference !== undefined && { userReference }),
  };
  const row = await context.call(action, (options) => context.raw.onboarding.adoptDWallet(request, options));
  if (row.dwalletId !== dwalletId)
    throw new TssError("OUTPUT_MISMATCH", "the service answered with another dWallet");
  const publicKey = publicKeyFromDWalletOutput(curve, dwallet.state.publicOutput);
  return {
    dwallet: { id: dwalletId, curve },
    publicKeyHex: bytesToHex(publicKey),
    addresses: addressesOfKey(curve, publicKey),
    encryptedUserSecretKeyShareId,
    sessionDigestHex: bytesToHex(sessionDigest),
  };
}

/** The stages of an adoption, in order. */
export type AdoptDWalletStage = "dwallet" | "parameters" | "share" | "register" | "adopt";

/** Arguments of `adoptDWallet`. */
export interface AdoptDWalletArgs {
  /** The 32 bytes that the dWallet was made with. They never leave the client. */
  readonly seed: Uint8Array;
  readonly curve: Curve;
  readonly dwalletId: string;
  /** The dWallet's name, as in `getOrCreate`. Default: no name. */
  readonly name?: string | undefined;
  /**
   * The user that the dWallet belongs to for good, as in `onboard`. Default: no user. A client that is confined to users
   * has to name one of them, because the owner signs for it.
   */
  readonly userReference?: string | undefined;
  /** The project that the owner consents to. Default: the client's own, as the service names it. */
  readonly projectId?: string | undefined;
  /** The id that `onboard` returned. Default: look among the dWallet's shares on the chain. */
  readonly encryptedUserSecretKeyShareId?: string | undefined;
  /** The `sessionDigestHex` that `onboard` returned. Default: ask the chain. */
  readonly sessionDigestHex?: string | undefined;
  /** The time limit of the action, in milliseconds. Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** A dWallet that the project has adopted. It is ready to sign. */
export interface AdoptDWalletResult {
  readonly dwallet: { readonly id: string; readonly curve: Curve };
  /** The dWallet's public key from the chain, in hex: 33 bytes compressed for the secp curves, else 32. */
  readonly publicKeyHex: string;
  /** The public key's addresses on the chains that it can sign for. */
  readonly addresses: readonly NamedAddress[];
  readonly encryptedUserSecretKeyShareId: string;
  /** The digest of the DKG's session identifier, from which the share is derived. It is public. */
  readonly sessionDigestHex: string;
}

/** The consent outlives an epoch that ends while it is under way. */
const VALID_EPOCHS = 1n;
