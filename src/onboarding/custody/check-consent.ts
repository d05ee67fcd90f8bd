import { invalidField, ServiceError } from "../../errors/service-error.ts";
import { suiAddress } from "../../protocol/addresses.ts";
import { equalBytes } from "../../protocol/bytes.ts";
import { type TreasuryConsent, treasuryConsentBytes } from "../../protocol/treasury-consent.ts";
import type { HeldDWallet } from "../../protocol/treasury-custody.ts";
import { verifyUserSignature } from "../verify-user-signature.ts";

/**
 * Checks everything that the Treasury will check, so that the service pays no gas for a consent that the chain refuses.
 * Throws VALIDATION, which names the field, and BAD_SIGNATURE.
 */
export function checkConsent(consent: SignedConsent, facts: ConsentFacts): void {
  const { chain, treasuryId, recipient, nonce, expiresEpoch, publicKey, signature } = consent;
  if (!equalBytes(chain, facts.chain)) throw invalidField("chain", "belongs to another chain");
  if (treasuryId !== facts.treasuryId)
    throw invalidField("treasury_id", `is not this service's Treasury ${facts.treasuryId}`);
  if (recipient !== undefined && [ZERO_ADDRESS, treasuryId, consent.dwalletId].includes(recipient))
    throw invalidField("recipient", "is an address that cannot use the capability");
  if (suiAddress("ED25519", publicKey) !== facts.held.owner)
    throw invalidField("public_key", "is not the key of the dWallet's owner");
  if (nonce !== facts.nextNonce)
    throw invalidField("nonce", `is ${nonce}, but the dWallet's next one is ${facts.nextNonce}`);
  if (expiresEpoch < facts.epoch)
    throw invalidField("expires_epoch", `is ${expiresEpoch}, but the epoch is ${facts.epoch}`);
  if (verifyUserSignature(publicKey, treasuryConsentBytes(consent), signature)) return;
  throw new ServiceError("BAD_SIGNATURE", "signature: is not the owner's, or is over another authorization");
}

/** A consent of a dWallet's owner, with the owner's public key and signature. */
export interface SignedConsent extends TreasuryConsent {
  /** Ed25519, 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array;
}

/** The facts that a consent must match. */
export interface ConsentFacts {
  /** The digest of the chain's first checkpoint. */
  readonly chain: Uint8Array;
  readonly treasuryId: string;
  readonly held: HeldDWallet;
  readonly nextNonce: bigint;
  /** Sui's current epoch. */
  readonly epoch: bigint;
}

const ZERO_ADDRESS = `0x${"00".repeat(32)}`;
