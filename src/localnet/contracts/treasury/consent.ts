import { Ed25519PublicKey } from "@mysten/sui/keypairs/ed25519";
import { type TreasuryConsent, treasuryConsentBytes } from "../../../protocol/treasury-consent.ts";
import { verifyEd25519WithNode } from "../coordinator/verify-ed25519-with-node.ts";

/** Returns whether this is the owner's Ed25519 signature of the consent. */
export function isSignedByOwner(
  consent: TreasuryConsent,
  owner: string,
  publicKey: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (publicKey.length !== ED25519_PUBLIC_KEY_BYTES) return false;
  if (new Ed25519PublicKey(publicKey).toSuiAddress() !== owner) return false;
  return verifyEd25519WithNode(publicKey, treasuryConsentBytes(consent), signature);
}

const ED25519_PUBLIC_KEY_BYTES = 32;
