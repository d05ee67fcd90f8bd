import { isIP } from "node:net";
import { createContextKey } from "@connectrpc/connect";
import { invalidField } from "../platform/errors/service-error.ts";
import { canonicalAddress, createAddressList } from "./address-block.ts";

/**
 * Creates a function that finds the caller behind the proxies at `trusted`, which are addresses or CIDR blocks. Each
 * proxy appends the address of its caller to `x-forwarded-for` or `forwarded` (RFC 7239), so the caller is the
 * right-most untrusted hop. The caller can forge hops further left. Ignores the headers of untrusted peers. Throws
 * VALIDATION for a hop that is not an address, and if both headers name different callers, because a proxy that writes
 * one header may pass on the other.
 */
export function createClientAddress(trusted: readonly string[]): ClientAddress {
  const isTrusted = createAddressList(trusted);
  return (peerText, headers) => {
    const peer = plainAddress(peerText) ?? peerText;
    if (trusted.length === 0 || isIP(peer) === 0 || !isTrusted(peer)) return peer;
    const named = HEADERS.flatMap(([header, hopsOf]) => {
      const value = headers.get(header);
      return value === null ? [] : [{ header, address: callerOf(header, hopsOf(value), isTrusted) ?? peer }];
    });
    const [first, second] = named;
    if (first && second && first.address !== second.address) {
      throw invalidField(second.header, `names another caller than ${first.header}`);
    }
    return first?.address ?? peer;
  };
}

/** Returns the address of a caller: the connection's peer, or the address that trusted proxies report. */
export type ClientAddress = (peer: string, headers: Headers) => string;

/** The context key of the caller's address. */
export const clientAddressKey = createContextKey<string | undefined>(undefined, {
  description: "caller's address",
});

/** Returns the right-most untrusted hop, or the left-most hop if all are trusted; undefined without hops. */
function callerOf(
  header: string,
  hops: readonly string[],
  isTrusted: (address: string) => boolean,
): string | undefined {
  let farthest: string | undefined;
  for (const hop of hops.toReversed()) {
    const address = plainAddress(hop);
    if (address === undefined) throw invalidField(header, "a proxy named a hop that is no IP address");
    farthest = address;
    if (!isTrusted(address)) break;
  }
  return farthest;
}

const HEADERS: readonly [name: string, hopsOf: (value: string) => string[]][] = [
  ["x-forwarded-for", (value) => value.split(",").map((hop) => hop.trim())],
  ["forwarded", (value) => elementsOf(value).map(forOf)],
];

/** Splits `forwarded` into its elements at the commas outside quotes. */
function elementsOf(value: string): string[] {
  return value.match(/(?:"(?:\\.|[^"\\])*"|[^,"])+/g) ?? [];
}

/** Returns the `for` parameter of an element of `forwarded`; empty without one. */
function forOf(element: string): string {
  const [, quoted, token] = /(?:^|;)\s*for\s*=\s*(?:"([^"]*)"|([^\s;"]+))\s*(?:;|$)/i.exec(element) ?? [];
  return quoted ?? token ?? "";
}

/**
 * Returns the canonical address without port, brackets and zone; IPv4-mapped IPv6 as IPv4. Undefined for anything else.
 */
function plainAddress(text: string): string | undefined {
  const bare = /^\[(.*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text;
  return canonicalAddress(bare);
}
