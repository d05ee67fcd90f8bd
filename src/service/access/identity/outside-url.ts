import { isIP, type LookupFunction } from "node:net";
import { isPublicAddress } from "./public-address.ts";

/**
 * Reads a URL that a caller gave for the service to connect to: https without a user, a password or a fragment, and http
 * if inside addresses are allowed. Undefined for any other text, and for the literal of an address that is not public.
 */
export function readOutsideUrl(
  text: string,
  { allowsInside }: { readonly allowsInside: boolean },
): URL | undefined {
  if (text.length > URL_MAX_LENGTH || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== "https:" && !(allowsInside && url.protocol === "http:")) return undefined;
  if (url.username !== "" || url.password !== "" || url.hash !== "") return undefined;
  const host = hostOf(url);
  return allowsInside || isIP(host) === 0 || isPublicAddress(host) ? url : undefined;
}

const URL_MAX_LENGTH = 2_048;

/** Returns the host of a URL, an IPv6 address without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

/** Returns a resolver for a connection that knows only the checked addresses, at least one. */
export function pinnedTo(addresses: readonly string[]): LookupFunction {
  const pinned = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    const [first] = pinned;
    if (options.all) callback(null, pinned);
    else callback(null, first!.address, first!.family);
  };
}
