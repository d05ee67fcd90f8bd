import { ADDRCONFIG } from "node:dns";
import { lookup } from "node:dns/promises";
import { Agent, fetch as send } from "undici";
import { createNetworkLookup, type NetworkLookupOptions } from "./network-lookup.ts";

/**
 * Creates the fetch function of one network, with connections and DNS lookups of its own: see
 * {@link createNetworkLookup}. It rejects redirects, so that it connects only to configured hosts.
 */
export function createNetworkFetch({ resolve = resolveInSystem, clock }: NetworkFetchOptions): NetworkFetch {
  const dispatcher = new Agent({ connect: { lookup: createNetworkLookup({ resolve, clock }) } });
  // The types of undici are newer than those of Node, which describe the same standard.
  const own = (input: string | URL, init?: object) => send(input, { ...init, redirect: "error", dispatcher });
  return { fetch: own as unknown as typeof fetch, close: () => dispatcher.destroy() };
}

/** A fetch function with its connections. */
export interface NetworkFetch {
  /** Takes a URL as its input, not a `Request`. */
  readonly fetch: typeof fetch;
  /** Ends the connections and the calls on them. A call that begins afterwards fails. */
  readonly close: () => Promise<void>;
}

export interface NetworkFetchOptions extends Pick<NetworkLookupOptions, "clock"> {
  /** Default: the system's resolver. */
  readonly resolve?: NetworkLookupOptions["resolve"];
}

const resolveInSystem: NetworkLookupOptions["resolve"] = (hostname) =>
  lookup(hostname, { all: true, hints: ADDRCONFIG });
