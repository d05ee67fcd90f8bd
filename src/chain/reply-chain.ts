import { fromBase58 } from "@mysten/sui/utils";
import { bytesToHex } from "@noble/hashes/utils.js";

/**
 * Returns the chain that a fullnode's reply names in the header `x-sui-chain-id`; undefined if it names none. Sui's RPC
 * service sets the header on every reply (`sui_rpc_api::response`). A proxy may remove it.
 */
export function chainOfReply(headers: Headers): string | undefined {
  const named = headers.get(HEADER) ?? "";
  return SHORT_FORM.test(named) || isChainIdentifier(named) ? named : undefined;
}

/** Returns whether a reply's chain can be the chain with this identifier. */
export function isReplyOfChain(named: string, chainIdentifier: string): boolean {
  if (!SHORT_FORM.test(named) || !isChainIdentifier(chainIdentifier)) return named === chainIdentifier;
  return bytesToHex(fromBase58(chainIdentifier)).startsWith(named);
}

/** Returns whether the text is a chain identifier: the digest of the chain's first checkpoint, in Base58. */
function isChainIdentifier(text: string): boolean {
  // Decoding a long text would take milliseconds.
  if (text.length > DIGEST_MAX_CHARACTERS) return false;
  try {
    return fromBase58(text).length === DIGEST_BYTES;
  } catch {
    return false;
  }
}

const HEADER = "x-sui-chain-id";
const DIGEST_BYTES = 32;
const DIGEST_MAX_CHARACTERS = 44;
/** The display form of older nodes: the first four bytes of the digest in hex. */
const SHORT_FORM = /^[0-9a-f]{8}$/;
