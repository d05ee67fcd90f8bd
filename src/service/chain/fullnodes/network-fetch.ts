import { ADDRCONFIG, type LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { connect } from "node:http2";
import type { LookupFunction } from "node:net";
import { callbackify } from "node:util";
import { Agent, fetch as send } from "undici";
import { type ConnectHttp2, HTTP2_SETTINGS, withNativeGrpc } from "../../../protocol/chain/native-grpc.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";

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

interface NetworkFetchOptions extends Pick<NetworkLookupOptions, "clock"> {
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

/**
 * Creates the DNS lookup of one network's connections. It runs one lookup at a time, and one for all callers of the same
 * host. Once a host has resolved, a lookup that fails or takes longer than a second yields the last good addresses.
 *
 * Node resolves names on two threads of the process, and a name whose DNS server never answers occupies a thread for
 * many seconds. Without this bound, such names of one network would delay every other connection of the process.
 */
export function createNetworkLookup({ resolve, clock }: NetworkLookupOptions): LookupFunction {
  const hosts = new Map<string, Host>();
  let last: Promise<unknown> = Promise.resolve();

  const find = callbackify(addressesOf);
  return (hostname, options, callback) =>
    find(hostname, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || options.all) callback(error, addresses);
      else callback(null, first?.address ?? "", first?.family ?? 0);
    });

  async function addressesOf(hostname: string): Promise<LookupAddress[]> {
    const host = hosts.get(hostname) ?? {};
    hosts.set(hostname, host);
    host.flight ??= begin(hostname, host);
    const { flight, lastGood } = host;
    if (lastGood === undefined) return flight.found;
    return Promise.race([flight.found.catch(() => lastGood), flight.late.then(() => lastGood)]);
  }

  function begin(hostname: string, host: Host): Flight {
    const found = last.then(() => resolve(hostname));
    let cancel = () => {};
    const late = new Promise<void>((done) => {
      cancel = clock.after(PATIENCE_MS, done);
    });
    last = found.then(
      (addresses) => land(addresses),
      () => land(host.lastGood),
    );
    return { found, late };

    function land(addresses: LookupAddress[] | undefined): void {
      cancel();
      host.lastGood = addresses;
      host.flight = undefined;
    }
  }
}

interface NetworkLookupOptions {
  /** Returns at least one address of the host, or rejects. */
  readonly resolve: (hostname: string) => Promise<LookupAddress[]>;
  readonly clock: Clock;
}

interface Host {
  lastGood?: LookupAddress[] | undefined;
  flight?: Flight | undefined;
}

/** One lookup, from its request to its end. */
interface Flight {
  readonly found: Promise<LookupAddress[]>;
  /** Resolves when the callers stop waiting, even if the lookup still waits for its turn. */
  readonly late: Promise<void>;
}

/** How long a connection waits for a lookup when it has earlier addresses. */
const PATIENCE_MS = 1_000;
