import { bcs } from "@mysten/sui/bcs";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Address, U64 } from "./fast-bcs.ts";

/**
 * The consent of a dWallet's owner that a service sends a share of it to another user, and lets that user sign. The
 * owner signs it. It names the ciphertext, so it serves for one share alone.
 */
export interface ShareConsent {
  readonly dwalletId: string;
  /** The Sui address of the recipient's encryption key. */
  readonly recipientAddress: string;
  readonly encryptedUserShareAndProof: Uint8Array;
  /** The project's id, a UUID in lower case. */
  readonly projectId: string;
  /** The project's own id of the recipient's user; undefined for none. */
  readonly userReference: string | undefined;
  /** The last Sui epoch in which the consent can be used. */
  readonly expiresEpoch: bigint;
}

/**
 * Returns the message that the owner signs with Ed25519, in BCS. The owner's key is the one that signed the user's
 * encryption key. The message contains only the SHA-256 of the user's reference, or nothing for no user. It begins with
 * the length of its domain, 33, so no other message that this key signs is a consent.
 */
export function shareConsentBytes(consent: ShareConsent): Uint8Array {
  const { userReference } = consent;
  return Consent.serialize({
    domain: utf8ToBytes(DOMAIN),
    dwallet_id: consent.dwalletId,
    recipient: consent.recipientAddress,
    share_hash: sha256(consent.encryptedUserShareAndProof),
    project_id: utf8ToBytes(consent.projectId),
    user: userReference === undefined ? new Uint8Array() : sha256(utf8ToBytes(userReference)),
    expires_epoch: consent.expiresEpoch,
  }).toBytes();
}

const DOMAIN = "threshold-signing-service/share/1";

const Consent = bcs.struct("ShareConsent", {
  domain: bcs.byteVector(),
  dwallet_id: Address,
  recipient: Address,
  share_hash: bcs.byteVector(),
  project_id: bcs.byteVector(),
  user: bcs.byteVector(),
  expires_epoch: U64,
});
