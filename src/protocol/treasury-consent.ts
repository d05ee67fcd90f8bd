import { bcs } from "@mysten/sui/bcs";

/** A dWallet owner's consent for the Treasury that holds the dWallet's capability. The owner signs it. */
export interface TreasuryConsent {
  /**
   * - `leave`: the capability goes to the recipient.
   * - `refuse`: the Treasury's administrator can never hand the capability out.
   */
  readonly action: "leave" | "refuse";
  /** The digest of the chain's first checkpoint, 32 bytes. */
  readonly chain: Uint8Array;
  readonly treasuryId: string;
  readonly dwalletId: string;
  /** The address that receives the capability. Absent in a refusal. */
  readonly recipient?: string;
  /** The number of consents that the Treasury has used for the dWallet before this one. */
  readonly nonce: bigint;
  /** The last Sui epoch in which the consent can be used. */
  readonly expiresEpoch: bigint;
}

/**
 * Returns the message that the owner signs with Ed25519: `consent::Consent` of `move/treasury` in BCS. The owner's key
 * is the one that signed the user's encryption key; its Sui address owns the dWallet.
 */
export function treasuryConsentBytes(consent: TreasuryConsent): Uint8Array {
  return Consent.serialize({
    domain: new TextEncoder().encode(DOMAIN),
    action: ACTIONS.indexOf(consent.action),
    chain: consent.chain,
    treasury_id: consent.treasuryId,
    dwallet_id: consent.dwalletId,
    recipient: consent.recipient ?? NOBODY,
    nonce: consent.nonce,
    expires_epoch: consent.expiresEpoch,
  }).toBytes();
}

const DOMAIN = "threshold-signing-service/treasury/consent/1";
/** The actions. An action's position is its number in the message. */
const ACTIONS = ["leave", "refuse"] as const;
const NOBODY = `0x${"00".repeat(32)}`;

const Consent = bcs.struct("Consent", {
  domain: bcs.byteVector(),
  action: bcs.u8(),
  chain: bcs.byteVector(),
  treasury_id: bcs.Address,
  dwallet_id: bcs.Address,
  recipient: bcs.Address,
  nonce: bcs.u64(),
  expires_epoch: bcs.u64(),
});
