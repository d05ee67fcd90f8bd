import type { UserKeys } from "../crypto/engine.ts";
import type { SecretBytes } from "../crypto/secret-bytes.ts";
import { parseEncryptedShare } from "../protocol/chain-objects.ts";
import { verifyEd25519 } from "../protocol/verify-ed25519.ts";
import type { Action } from "./action.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import { ENCRYPTED_SHARE } from "./object-kinds.ts";
import { type CompletedDWallet, readObject } from "./read-dwallet.ts";

/**
 * Decrypts the user's share of an Active dWallet from the chain, for dWallets whose share was not derived from the
 * seed. The share must belong to the dWallet and to this signer, carry the signer's own signature over the output, and
 * fit the output. These checks show that a client of this seed once accepted the dWallet. They do not show that the
 * share is secret: the party that encrypted it knows it.
 */
export async function openShare(
  context: ClientContext,
  action: Action,
  keys: UserKeys,
  dwallet: CompletedDWallet,
  encryptedUserSecretKeyShareId: string,
): Promise<SecretBytes> {
  const { networkEncryptionKeyId } = dwallet;
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
  const parameters = await context.parameters.load(action, { curve: keys.curve, networkEncryptionKeyId });
  const share = await context.engine.decryptShare({
    curve: keys.curve,
    parameters,
    decryptionKey: keys.decryptionKey,
    dwalletOutput: publicOutput,
    encryptedShareAndProof: encrypted.encryptedShareAndProof,
    signal: action.signal,
  });
  let isFit = false;
  try {
    const claim = { curve: keys.curve, parameters, userSecretKeyShare: share, dwalletOutput: publicOutput };
    isFit = await context.engine.isOutputOfShare({ ...claim, signal: action.signal });
  } finally {
    if (!isFit) share.destroy();
  }
  if (isFit) return share;
  throw new TssError("SHARE_MISMATCH", "the decrypted share does not fit the dWallet's public output");
}
