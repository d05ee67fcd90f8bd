/** Goes to a page on a network in one step of the history. Links within the page, such as `#/money`, keep the network. */
export function goTo(network: string, hash: string): void {
  history.pushState(null, "", addressOn(network, hash));
  // The history tells only of steps that the reader takes in it.
  dispatchEvent(new PopStateEvent("popstate"));
}

/** The address of a page on a network. */
export function addressOn(network: string, hash: string): string {
  const address = new URL(location.href);
  address.searchParams.set(NETWORK_PARAMETER, network);
  address.hash = hash;
  return `${address.pathname}${address.search}${address.hash}`;
}

/** The network that the address names. */
export function networkInAddress(): string | undefined {
  return new URLSearchParams(location.search).get(NETWORK_PARAMETER) ?? undefined;
}

const NETWORK_PARAMETER = "network";
