import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { callbackify } from "node:util";
import type { Clock } from "../lifecycle/clock.ts";

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

export interface NetworkLookupOptions {
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
