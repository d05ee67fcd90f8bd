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
