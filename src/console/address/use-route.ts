import { useEffect, useState } from "preact/hooks";

/** Returns the parts of the path after the `#` of the address, such as `/projects/…`, without its filters. */
export function useRoute(): readonly string[] {
  return useAddress(() => location.hash)
    .replace(/\?.*$/s, "")
    .replace(/^#?\/?/, "")
    .split("/")
    .filter(Boolean)
    .map(decodeOr);
}

/** Returns what `read` finds in the address, also after the address has changed. */
export function useAddress<Value extends string | undefined>(read: () => Value): Value {
  const [value, setValue] = useState(read);
  useEffect(() => {
    const follow = (): void => setValue(read);
    for (const event of ROUTE_EVENTS) addEventListener(event, follow);
    // The reader may have followed a link between the first rendering and this effect.
    follow();
    return () => {
      for (const event of ROUTE_EVENTS) removeEventListener(event, follow);
    };
  }, []);
  return value;
}

/** Events that follow a new address: a link fires the first, {@link goTo} and a history step fire the second. */
const ROUTE_EVENTS = ["hashchange", "popstate"] as const;

function decodeOr(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Navigates to a page on a network in one history step. Links within the page, such as `#/money`, keep the network. */
export function goTo(network: string, hash: string): void {
  history.pushState(null, "", addressOn(network, hash));
  // The browser fires `popstate` only when the reader navigates, not for `pushState`.
  dispatchEvent(new PopStateEvent("popstate"));
}

/** Returns the address of a page on a network. */
export function addressOn(network: string, hash: string): string {
  const address = new URL(location.href);
  address.searchParams.set(NETWORK_PARAMETER, network);
  address.hash = hash;
  return `${address.pathname}${address.search}${address.hash}`;
}

/** Returns the network in the address; undefined if it names none. */
export function networkInAddress(): string | undefined {
  return new URLSearchParams(location.search).get(NETWORK_PARAMETER) ?? undefined;
}

const NETWORK_PARAMETER = "network";

/**
 * Returns the network in the address, or the first network if the address names none of them. With several networks,
 * also writes it to the address, so that a reload, a link and the back button keep it.
 */
export function useChosenNetwork(networks: readonly string[]): string {
  const named = useAddress(networkInAddress);
  const chosen = networks.find((network) => network === named) ?? networks[0] ?? "";
  useEffect(() => {
    if (networks.length > 1 && networkInAddress() !== chosen)
      history.replaceState(null, "", addressOn(chosen, location.hash));
  }, [networks, chosen, named]);
  return chosen;
}
