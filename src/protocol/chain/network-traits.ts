/** Returns what the name of a network decides. A name that the service does not know counts as a network with value. */
export function networkTraits(name: string): NetworkTraits {
  return TRAITS.get(name) ?? WITH_VALUE;
}

/** The digests of the first checkpoints of the public networks, in Base58, from Sui's `sui_types::digests`. */
export const CHAIN_IDENTIFIERS = {
  testnet: "69WiPg3DAQiwdxfncX6wYQ2siKwAe6L9BZthQea3JNMD",
  mainnet: "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S",
} as const;

/** Returns whether the chain can be that of the network. A localnet is any chain that is not a public network's. */
export function canBeChainOf(name: string, chainIdentifier: string): boolean {
  const pinned = new Map<string, string>(Object.entries(CHAIN_IDENTIFIERS));
  const wanted = pinned.get(name);
  return wanted === undefined ? ![...pinned.values()].includes(chainIdentifier) : wanted === chainIdentifier;
}

/** What differs between networks, apart from addresses. */
export interface NetworkTraits {
  /** Whether its keys are public and its coins have no value. */
  readonly isDevelopment: boolean;
  /** Whether it makes checkpoints while nothing happens. */
  readonly hasIdleCheckpoints: boolean;
  /** The URL of its explorer, below which are `tx/`, `object/` and `account/`; undefined for none. */
  readonly explorerUrl: string | undefined;
}

const WITH_VALUE: NetworkTraits = { isDevelopment: false, hasIdleCheckpoints: true, explorerUrl: undefined };

const TRAITS: ReadonlyMap<string, NetworkTraits> = new Map([
  ["localnet", { isDevelopment: true, hasIdleCheckpoints: false, explorerUrl: undefined }],
  ["testnet", { ...WITH_VALUE, explorerUrl: "https://suiscan.xyz/testnet" }],
  ["mainnet", { ...WITH_VALUE, explorerUrl: "https://suiscan.xyz/mainnet" }],
]);
