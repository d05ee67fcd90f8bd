import { CHAIN_IDENTIFIERS } from "../protocol/network-traits.ts";
import type { Network } from "./names.ts";

/** The constants of a public network that are built into the client, so that no service can name another chain. */
export interface ChainPins {
  /** The digest of the genesis checkpoint, in Base58. */
  readonly chainIdentifier: string;
  readonly fullnodeUrls: readonly string[];
  readonly ika: IkaIds;
}

export interface SharedObjectId {
  readonly objectId: string;
  /** The version at which it was shared. */
  readonly initialSharedVersion: bigint;
}

/** The ids of Ika that never change: an upgrade adds packages and keeps these. */
export interface IkaIds {
  /** The package of the IKA coin. */
  readonly ikaPackage: string;
  /** The original package of the Ika system's types. */
  readonly ikaSystemOriginalPackage: string;
  /** The original package of the coordinator's types. */
  readonly ikaDwallet2pcMpcOriginalPackage: string;
  readonly ikaSystemObject: SharedObjectId;
  readonly ikaDwalletCoordinator: SharedObjectId;
}

/** A network with one public chain. */
export type PublicNetwork = Exclude<Network, "localnet">;

/**
 * The public networks. The fullnodes come from the Sui SDK's documentation, and the ids from the Ika SDK
 * (`getNetworkConfig`); a test compares them.
 */
export const CHAIN_PINS: Readonly<Record<PublicNetwork, ChainPins>> = {
  testnet: {
    chainIdentifier: CHAIN_IDENTIFIERS.testnet,
    fullnodeUrls: ["https://fullnode.testnet.sui.io:443"],
    ika: {
      ikaPackage: "0x1f26bb2f711ff82dcda4d02c77d5123089cb7f8418751474b9fb744ce031526a",
      ikaSystemOriginalPackage: "0xae71e386fd4cff3a080001c4b74a9e485cd6a209fa98fb272ab922be68869148",
      ikaDwallet2pcMpcOriginalPackage: "0xf02f5960c94fce1899a3795b5d11fd076bc70a8d0e20a2b19923d990ed490730",
      ikaSystemObject: {
        objectId: "0x2172c6483ccd24930834e30102e33548b201d0607fb1fdc336ba3267d910dec6",
        initialSharedVersion: 508060325n,
      },
      ikaDwalletCoordinator: {
        objectId: "0x4d157b7415a298c56ec2cb1dcab449525fa74aec17ddba376a83a7600f2062fc",
        initialSharedVersion: 510819272n,
      },
    },
  },
  mainnet: {
    chainIdentifier: CHAIN_IDENTIFIERS.mainnet,
    fullnodeUrls: ["https://fullnode.mainnet.sui.io:443"],
    ika: {
      ikaPackage: "0x7262fb2f7a3a14c888c438a3cd9b912469a58cf60f367352c46584262e8299aa",
      ikaSystemOriginalPackage: "0xb874c9b51b63e05425b74a22891c35b8da447900e577667b52e85a16d4d85486",
      ikaDwallet2pcMpcOriginalPackage: "0xdd24c62739923fbf582f49ef190b4a007f981ca6eb209ca94f3a8eaf7c611317",
      ikaSystemObject: {
        objectId: "0x215de95d27454d102d6f82ff9c54d8071eb34d5706be85b5c73cbd8173013c80",
        initialSharedVersion: 595745916n,
      },
      ikaDwalletCoordinator: {
        objectId: "0x5ea59bce034008a006425df777da925633ef384ce25761657ea89e2a08ec75f3",
        initialSharedVersion: 595876492n,
      },
    },
  },
};

/** Returns the pins of a network, or undefined for a localnet, which has no fixed chain. */
export function pinsOf(network: Network): ChainPins | undefined {
  return network === "localnet" ? undefined : CHAIN_PINS[network];
}
