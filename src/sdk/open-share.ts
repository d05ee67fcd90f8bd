import type { UserKeys } from "../crypto/engine.ts";
import type { SecretBytes } from "../crypto/secret-bytes.ts";
import { parseEncryptedShare } from "../protocol/chain-objects.ts";
import { userShareFitsOutput } from "../protocol/user-share.ts";
import { verifyEd25519 } from "../protocol/verify-ed25519.ts";
import type { Action } from "./action.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import { readObject } from "./read-dwallet.ts";

/** A dWallet's output with where its encrypted share is. */
export interface EncryptedShareReference {
  readonly dwalletId: string;
  readonly networkEncryptionKeyId: string;
  readonly publicOutput: Uint8Array;
  readonly encryptedUserSecretKeyShareId: string;
}

/**
 * Decrypts the user's share from the chain. The share must belong to the dWallet and to this signer, carry the signer's
 * own signature over the output if it was accepted, and fit the output.
 */
export async function openShare(
  context: ClientContext,
  action: Action,
  keys: UserKeys,
  reference: EncryptedShareReference,
): Promise<SecretBytes> {
  const { publicOutput, networkEncryptionKeyId, dwalletId } = reference;
  const content = await readObject(context, action, reference.encryptedUserSecretKeyShareId);
  if (content === undefined) throw new TssError("SHARE_MISMATCH", "the chain has no such encrypted share");
  const encrypted = parseEncryptedShare(content);
  if (encrypted.dwalletId !== dwalletId || encrypted.encryptionKeyAddress !== keys.signerAddress) {
    throw new TssError("SHARE_MISMATCH", "the encrypted share belongs to another dWallet or another seed");
  }
  const { state } = encrypted;
  if (
    state.kind === "KeyHolderSigned" &&
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
  });
  if (userShareFitsOutput(keys.curve, share.reveal(), publicOutput)) return share;
  share.destroy();
  throw new TssError("SHARE_MISMATCH", "the decrypted share does not fit the dWallet's public output");
}
