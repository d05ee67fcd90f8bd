import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { hexToBytes } from "../bytes.ts";
import { isObjectId } from "./object-id.ts";

/**
 * Returns the digest that a DKG message is bound to: keccak256(u64be(0) || "USER" || keccak256(sender || session
 * bytes)), 32 bytes. `senderAddress` is the address of the transaction's sender in its full form, 0x and 64 hex digits.
 */
export function sessionIdentifierDigest(sessionIdentifier: Uint8Array, senderAddress: string): Uint8Array {
  return digestOfPreimage(sessionIdentifierPreimage(sessionIdentifier, senderAddress));
}

/** Returns the digest of a preimage from the chain's events. */
export function digestOfPreimage(preimage: Uint8Array): Uint8Array {
  const domain = concatBytes(new Uint8Array(8), new TextEncoder().encode("USER"));
  return keccak_256(concatBytes(domain, preimage));
}

/** Returns the preimage that the chain registers: keccak256(sender || session bytes). */
export function sessionIdentifierPreimage(sessionIdentifier: Uint8Array, senderAddress: string): Uint8Array {
  if (sessionIdentifier.length !== 32) throw new RangeError("session identifier: 32 bytes");
  if (!isObjectId(senderAddress)) throw new RangeError("sender address: 0x and 64 hex digits");
  return keccak_256(concatBytes(hexToBytes(senderAddress.slice(2)), sessionIdentifier));
}
