import { Ed25519PublicKey } from "@mysten/sui/keypairs/ed25519";
import { ed25519 } from "@noble/curves/ed25519.js";
import { type TreasuryConsent, treasuryConsentBytes } from "../../src/protocol/chain/treasury-custody.ts";
import type { Consented } from "./scenario.ts";

/** The user with an encryption key on this curve: the Ed25519 key and its address. */
export function userOf(curve: number): {
  readonly secretKey: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly address: string;
} {
  const secretKey = new Uint8Array(32).fill(0xa0 + curve);
  const publicKey = ed25519.getPublicKey(secretKey);
  return { secretKey, publicKey, address: new Ed25519PublicKey(publicKey).toSuiAddress() };
}

const OTHER = `0x${"07".repeat(32)}`;

/** The digest of the first checkpoint of the scenarios' chain. */
export const SCENARIO_CHAIN = new Uint8Array(32).fill(0xc4);

/** The arguments of a consent by the user of curve 0, whose signature may have a flaw. */
export function signConsent(
  step: Consented,
  of: Pick<TreasuryConsent, "action" | "treasuryId" | "dwalletId"> & { readonly recipient: string },
): SignedConsent {
  const { nonce = 0, expiresEpoch = 0, flaw } = step;
  const { recipient } = of;
  const told: TreasuryConsent = {
    action: of.action,
    treasuryId: of.treasuryId,
    dwalletId: of.dwalletId,
    chain: SCENARIO_CHAIN,
    nonce: BigInt(nonce),
    expiresEpoch: BigInt(expiresEpoch),
  };
  const signed = { ...told, ...(of.action === "leave" && { recipient }), ...(flaw && FLAWS[flaw]) };
  const { secretKey, publicKey } = userOf(flaw === "of another key" ? 2 : 0);
  const signature = ed25519.sign(treasuryConsentBytes(signed), secretKey);
  return {
    chain: SCENARIO_CHAIN,
    nonce: told.nonce,
    expiresEpoch: told.expiresEpoch,
    publicKey,
    signature: flaw === "short" ? signature.slice(1) : signature,
  };
}

/** The arguments of a consent, besides the dWallet and the recipient. */
export interface SignedConsent {
  readonly chain: Uint8Array;
  readonly nonce: bigint;
  readonly expiresEpoch: bigint;
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array;
}

/** The signed values that differ from those that the Treasury gets. */
const FLAWS: Readonly<Record<NonNullable<Consented["flaw"]>, Partial<TreasuryConsent>>> = {
  "of another key": {},
  short: {},
  "for another recipient": { recipient: OTHER },
  "for another Treasury": { treasuryId: OTHER },
  "for another chain": { chain: new Uint8Array(32) },
  "for another action": { action: "refuse" },
  "with another nonce": { nonce: 7n },
  "with another expiry": { expiresEpoch: 7n },
  "of another dWallet": { dwalletId: OTHER },
};
