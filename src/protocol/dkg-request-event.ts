import { bytesToHex } from "@noble/hashes/utils.js";
import { byteReader } from "./byte-reader.ts";

/** What a DKG's request event says first: which session it is, and which dWallet it makes. */
export interface DkgRequestEvent {
  /** keccak256(sender || session bytes), 32 bytes: what `digestOfPreimage` takes. */
  readonly preimage: Uint8Array;
  readonly dwalletId: string;
}

/** True if a Sui event of this type is a DKG's request. Types carry the package that first defined them. */
export function isDkgRequestEvent(eventType: string): boolean {
  return (
    eventType.includes("::sessions_manager::DWalletSessionEvent<") &&
    eventType.endsWith("::coordinator_inner::DWalletDKGRequestEvent>")
  );
}

/**
 * Reads the start of `sessions_manager::DWalletSessionEvent<DWalletDKGRequestEvent>`: epoch | session object id | type |
 * sequence number | vec(preimage) | dWallet id. What follows is not read. Throws MalformedBytesError.
 */
export function parseDkgRequestEvent(content: Uint8Array): DkgRequestEvent {
  const reader = byteReader(content, "DKG request event");
  reader.take(8 + 32);
  reader.uint8();
  reader.take(8);
  const preimage = reader.vector(32).slice();
  return { preimage, dwalletId: `0x${bytesToHex(reader.take(32))}` };
}
