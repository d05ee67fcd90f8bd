import { bytesToHex } from "@noble/hashes/utils.js";
import { byteReader } from "./byte-reader.ts";

/** The session and the dWallet of a DKG request event. */
export interface DkgRequestEvent {
  /** keccak256(sender || session bytes), 32 bytes: the argument of `digestOfPreimage`. */
  readonly preimage: Uint8Array;
  readonly dwalletId: string;
}

/** Returns whether a Sui event of this type is a DKG request. The type names the package that first defined it. */
export function isDkgRequestEvent(eventType: string): boolean {
  return (
    eventType.includes("::sessions_manager::DWalletSessionEvent<") &&
    eventType.endsWith("::coordinator_inner::DWalletDKGRequestEvent>")
  );
}

/**
 * Reads the start of `sessions_manager::DWalletSessionEvent<DWalletDKGRequestEvent>`: epoch | session object id | type
 * | sequence number | vec(preimage) | dWallet id. Ignores the rest. Throws MalformedBytesError.
 */
export function parseDkgRequestEvent(content: Uint8Array): DkgRequestEvent {
  const reader = byteReader(content, "DKG request event");
  reader.take(8 + 32);
  reader.uint8();
  reader.take(8);
  const preimage = reader.vector(32).slice();
  return { preimage, dwalletId: `0x${bytesToHex(reader.take(32))}` };
}
