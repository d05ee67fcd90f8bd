import { bcs } from "@mysten/sui/bcs";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Address, U64 } from "./fast-bcs.ts";

/**
 * The consent of a dWallet's owner that a project of a service adopts the dWallet. The owner signs it. It names
 * everything that the service takes from the owner, so nobody can use it for another project, user or share.
 */
export interface AdoptionConsent {
  /** The digest of the chain's first checkpoint, 32 bytes. */
  readonly chain: Uint8Array;
  /** The Treasury that holds the dWallet's capability. */
  readonly treasuryId: string;
  readonly dwalletId: string;
  /** The object id of the owner's encrypted share. */
  readonly encryptedUserSecretKeyShareId: string;
  /** The digest of the DKG's session identifier, 32 bytes. */
  readonly sessionDigest: Uint8Array;
  /** The project's id, a UUID in lower case. */
  readonly projectId: string;
  /** The project's own id of the user; undefined for none. */
  readonly userReference: string | undefined;
  /** The last Sui epoch in which the consent can be used. */
  readonly expiresEpoch: bigint;
}

/**
 * Returns the message that the owner signs with Ed25519, in BCS. The owner's key is the one that signed the user's
 * encryption key. The message contains only the SHA-256 of the user's reference, or nothing for no user.
 */
export function adoptionConsentBytes(consent: AdoptionConsent): Uint8Array {
  const { userReference } = consent;
  return Consent.serialize({
    domain: utf8ToBytes(DOMAIN),
    chain: consent.chain,
    treasury_id: consent.treasuryId,
    dwallet_id: consent.dwalletId,
    share_id: consent.encryptedUserSecretKeyShareId,
    session_digest: consent.sessionDigest,
    project_id: utf8ToBytes(consent.projectId),
    user: userReference === undefined ? new Uint8Array() : sha256(utf8ToBytes(userReference)),
    expires_epoch: consent.expiresEpoch,
  }).toBytes();
}

const DOMAIN = "threshold-signing-service/adopt/1";

const Consent = bcs.struct("AdoptionConsent", {
  domain: bcs.byteVector(),
  chain: bcs.byteVector(),
  treasury_id: Address,
  dwallet_id: Address,
  share_id: Address,
  session_digest: bcs.byteVector(),
  project_id: bcs.byteVector(),
  user: bcs.byteVector(),
  expires_epoch: U64,
});
