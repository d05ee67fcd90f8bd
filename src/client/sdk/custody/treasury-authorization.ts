import { fromBase58, toBase58 } from "@mysten/sui/utils";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { isObjectId } from "../../../protocol/chain/object-id.ts";
import type { TreasuryConsent } from "../../../protocol/chain/treasury-custody.ts";
import { invalid } from "../checks.ts";

/**
 * A dWallet owner's signed authorization for the Treasury, as plain JSON. Anyone who has it can submit it with
 * `submitLeave` or `submitRefusal`, but nobody can change it. It contains no secret.
 */
export interface TreasuryAuthorization {
  /** `leave`: the recipient gets the capability. `refuse`: the administrator can never hand it out or move it. */
  readonly action: "leave" | "refuse";
  /** The digest of the chain's first checkpoint, in Base58. */
  readonly chain: string;
  /** The object id of the Treasury. */
  readonly treasuryId: string;
  readonly dwalletId: string;
  /** The address that receives the capability. Absent in a refusal. */
  readonly recipient?: string;
  /** The number of authorizations of the dWallet that the Treasury has used before, in decimal digits. */
  readonly nonce: string;
  /** The last Sui epoch in which the Treasury accepts it, in decimal digits. An epoch takes about a day. */
  readonly expiresEpoch: string;
  /** The owner's Ed25519 public key, in hex. */
  readonly publicKey: string;
  /** The owner's signature, in hex. */
  readonly signature: string;
}

/** Returns the JSON form of a signed consent. */
export function toAuthorization(consent: SignedTreasuryConsent): TreasuryAuthorization {
  const { action, chain, treasuryId, dwalletId, recipient, nonce, expiresEpoch } = consent;
  return {
    action,
    chain: toBase58(chain),
    treasuryId,
    dwalletId,
    ...(recipient !== undefined && { recipient }),
    nonce: String(nonce),
    expiresEpoch: String(expiresEpoch),
    publicKey: bytesToHex(consent.publicKey),
    signature: bytesToHex(consent.signature),
  };
}

/** A consent with the owner's key and signature. */
export interface SignedTreasuryConsent extends TreasuryConsent {
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array;
}

/** Parses the JSON form. Throws VALIDATION, which names the malformed field. */
export function fromAuthorization(value: TreasuryAuthorization): SignedTreasuryConsent {
  if (typeof value !== "object" || value === null) throw invalid("authorization", "must be an object");
  const { action, treasuryId, dwalletId, recipient } = value;
  if (action !== "leave" && action !== "refuse") throw invalid("action", "must be leave or refuse");
  for (const [field, id] of Object.entries({ treasuryId, dwalletId }))
    if (!isObjectId(id)) throw invalid(field, ID);
  if (action === "leave" ? !isObjectId(recipient as string) : recipient !== undefined)
    throw invalid("recipient", action === "leave" ? ID : "must be absent in a refusal");
  return {
    action,
    treasuryId,
    dwalletId,
    ...(recipient !== undefined && { recipient }),
    chain: bytesOf("chain", 32, () => fromBase58(value.chain)),
    nonce: integerOf("nonce", value.nonce),
    expiresEpoch: integerOf("expiresEpoch", value.expiresEpoch),
    publicKey: bytesOf("publicKey", 32, () => hexToBytes(value.publicKey)),
    signature: bytesOf("signature", 64, () => hexToBytes(value.signature)),
  };
}

const ID = "must be 0x and 64 lower-case hex digits";

function integerOf(field: string, digits: string): bigint {
  if (typeof digits !== "string" || !/^(0|[1-9][0-9]{0,15})$/.test(digits))
    throw invalid(field, "must be decimal digits, at most 16");
  return BigInt(digits);
}

function bytesOf(field: string, length: number, read: () => Uint8Array): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = read();
  } catch {
    throw invalid(field, "is malformed");
  }
  if (bytes.length !== length) throw invalid(field, `must be ${length} bytes`);
  return bytes;
}
