import { isObjectId } from "../../../../protocol/chain/object-id.ts";
import { publicKeyFromDWalletOutput } from "../../../../protocol/dwallet-output.ts";
import { verifyEd25519 } from "../../../../protocol/signatures/verify-ed25519.ts";
import type { UserKeys } from "../../../crypto/engine.ts";
import type { Action } from "../../action.ts";
import type { CompletedDWallet } from "../../chain/read-dwallet.ts";
import type { ClientContext } from "../../context.ts";
import type { Curve } from "../../names.ts";
import { askService } from "../ask-service.ts";
import { findOwnShares, isTooMany, readOwnShares } from "../own-shares.ts";
import type { FoundBy } from "../share-id.ts";

/**
 * Returns the public key of an imported key that the seed's signer has accepted. Nothing follows from the user's share
 * about the whole key: X_B is whatever the sender of the import dealt to the network. So the proof is the signature that
 * the chain keeps with the user's encrypted share. A client signs an output after it has compared the key with the
 * private key that it imported or, as a recipient, with the public key that its caller got from the owner. A lying
 * fullnode can hide the signature, and cannot make one. The share is looked for in the dWallet's table, and then under
 * the id that the caller or the service names.
 *
 * Returns undefined for a dWallet of a DKG, and if the chain shows no such signature. Throws as the chain's reads do. A
 * client asks the chain once for each dWallet. The caller checks that the share is the output's, so later calls do not
 * depend on the seed.
 */
export async function acceptedImport(
  context: ClientContext,
  action: Action,
  dwallet: CompletedDWallet,
  { seed, curve, encryptedUserSecretKeyShareId }: SeedOfImport,
): Promise<Uint8Array | undefined> {
  if (!dwallet.isImportedKey) return undefined;
  const { publicOutput } = dwallet.state;
  if (ACCEPTED.has(publicOutput)) return publicKeyFromDWalletOutput(curve, publicOutput);
  const keys = action.own(await context.engine.deriveUserKeys({ seed, curve, signal: action.signal }));
  return await acceptedBy(context, action, dwallet, keys, encryptedUserSecretKeyShareId);
}

interface SeedOfImport extends Pick<FoundBy, "encryptedUserSecretKeyShareId"> {
  readonly seed: Uint8Array;
  readonly curve: Curve;
}

/** Does the same as {@link acceptedImport} for keys that the caller has derived. It always asks the chain. */
export async function acceptedBy(
  context: ClientContext,
  action: Action,
  dwallet: CompletedDWallet,
  { curve, signerAddress, signerPublicKey }: Pick<UserKeys, "curve" | "signerAddress" | "signerPublicKey">,
  knownShareId?: string,
): Promise<Uint8Array | undefined> {
  if (!dwallet.isImportedKey) return undefined;
  const { publicOutput } = dwallet.state;
  const isAccepted = (shares: Awaited<ReturnType<typeof findOwnShares>>): boolean =>
    shares.some(
      ({ userOutputSignature: signature }) =>
        signature !== undefined && verifyEd25519(signerPublicKey, publicOutput, signature),
    );
  const isNamedAccepted = async (shareId: string | undefined): Promise<boolean> =>
    isObjectId(shareId) &&
    isAccepted(await readOwnShares(context, action, dwallet, signerAddress, [shareId]));
  const isListedAccepted = async (): Promise<boolean> => {
    try {
      return isAccepted(await findOwnShares(context, action, dwallet, signerAddress));
    } catch (error) {
      if (isTooMany(error)) return false;
      throw error;
    }
  };
  // The list may be too long or false. The signature proves the share, so anyone may name it.
  const isFound =
    (await isListedAccepted()) ||
    (await isNamedAccepted(knownShareId)) ||
    (await isNamedAccepted(await shareIdOfService(context, action, dwallet.id)));
  if (!isFound) return undefined;
  ACCEPTED.add(publicOutput);
  return publicKeyFromDWalletOutput(curve, publicOutput);
}

/** Returns the id that the service names, or undefined if it does not answer or does not know the dWallet. */
async function shareIdOfService(
  context: ClientContext,
  action: Action,
  dwalletId: string,
): Promise<string | undefined> {
  try {
    return (await askService(context, action, dwalletId)).encryptedUserSecretKeyShareId;
  } catch {
    action.signal.throwIfAborted();
    return undefined;
  }
}

/** The accepted outputs. A client keeps the bytes of those of its Active dWallets. */
const ACCEPTED = new WeakSet<Uint8Array>();
