/** Returns what the name of a network decides. A name that the service does not know counts as a network with value. */
export function networkTraits(name: string): NetworkTraits {
  return TRAITS.get(name) ?? WITH_VALUE;
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
