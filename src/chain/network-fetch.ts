import { ADDRCONFIG } from "node:dns";
import { lookup } from "node:dns/promises";
import { connect } from "node:http2";
import type { LookupFunction } from "node:net";
import { Agent, fetch as send } from "undici";
import { type ConnectHttp2, HTTP2_SETTINGS, withNativeGrpc } from "../protocol/native-grpc.ts";
import { createNetworkLookup, type NetworkLookupOptions } from "./network-lookup.ts";

/**
 * Creates the fetch function of one network, with connections and DNS lookups of its own: see
 * {@link createNetworkLookup}. It rejects redirects, so that it connects only to configured hosts. URLs that begin with
 * `grpcs://` or `grpc://` take native gRPC.
 */
export function createNetworkFetch({ resolve = resolveInSystem, clock }: NetworkFetchOptions): NetworkFetch {
  const find = createNetworkLookup({ resolve, clock });
  // A stream of checkpoints is silent for as long as the chain is. Every other call has a deadline of its own.
  const dispatcher = new Agent({ connect: { lookup: find }, bodyTimeout: 0 });
  // The types of undici are newer than those of Node, which describe the same standard.
  const own = (input: string | URL, init?: object) => send(input, { ...init, redirect: "error", dispatcher });
  const native = withNativeGrpc(own as unknown as typeof fetch, connectWith(find));
  return {
    fetch: native.fetch,
    close() {
      native.close();
      return dispatcher.destroy();
    },
  };
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

/** The global fetch function, which also takes native gRPC: for commands and checks, which have no network of their own. */
export const fetchFullnode: typeof fetch = withNativeGrpc(
  (input, init) => fetch(input, init),
  connectWith(undefined),
).fetch;

const resolveInSystem: NetworkLookupOptions["resolve"] = (hostname) =>
  lookup(hostname, { all: true, hints: ADDRCONFIG });

function connectWith(find: LookupFunction | undefined): ConnectHttp2 {
  return (origin) => connect(origin, { settings: HTTP2_SETTINGS, ...(find && { lookup: find }) });
}
