import type { GetNetworkResponse, SharedObject } from "../../../../gen/client/tss/v1/onboarding_pb.ts";
import { CHAIN_IDENTIFIERS } from "../../../protocol/chain/network-traits.ts";
import { isObjectId } from "../../../protocol/chain/object-id.ts";
import type { Action } from "../action.ts";
import type { ServiceCaller } from "../calls/service-calls.ts";
import type { RawClients } from "../context.ts";
import { TssError } from "../errors.ts";
import type { Network } from "../names.ts";

/**
 * Creates a source of GetNetwork's answer. It throws NETWORK_MISMATCH for a service of another network, and, on a
 * public network, for a service that announces other Ika ids than the client pins.
 */
export function createNetworkSource(
  { raw, call }: { readonly raw: RawClients; readonly call: ServiceCaller },
  network: Network,
): NetworkSource {
  const pins = pinsOf(network);
  let last: GetNetworkResponse | undefined;
  const read = async (action: Action): Promise<GetNetworkResponse> => {
    const answer = await call(action, (options) => raw.onboarding.getNetwork({}, options));
    if (answer.network !== network) {
      throw new TssError("NETWORK_MISMATCH", `the service does not serve ${network}`);
    }
    if (pins !== undefined) checkAnnouncedIds(pins.ika, announcedIds(answer));
    last = answer;
    return answer;
  };
  return { read, known: async (action) => last ?? (await read(action)) };
}

/** Calls GetNetwork and caches the last answer. */
export interface NetworkSource {
  read(action: Action): Promise<GetNetworkResponse>;
  /** Returns the cached answer, or calls the service. */
  known(action: Action): Promise<GetNetworkResponse>;
}

/** Reads the ids that GetNetwork announces. Throws NETWORK_MISMATCH when an id is missing or malformed. */
export function announcedIds({ ikaConfig }: GetNetworkResponse): IkaIds {
  if (ikaConfig === undefined) throw new TssError("NETWORK_MISMATCH", "the service names no Ika objects");
  return {
    ikaPackage: objectId(ikaConfig.ikaPackage),
    ikaSystemOriginalPackage: objectId(ikaConfig.ikaSystemOriginalPackage),
    ikaDwallet2pcMpcOriginalPackage: objectId(ikaConfig.ikaDwallet2pcMpcOriginalPackage),
    ikaSystemObject: sharedObject(ikaConfig.ikaSystemObject),
    ikaDwalletCoordinator: sharedObject(ikaConfig.ikaDwalletCoordinator),
  };
}

/** Throws NETWORK_MISMATCH, with the id's name, unless the service announces exactly the ids that the client pins. */
function checkAnnouncedIds(pinned: IkaIds, announced: IkaIds): void {
  for (const name of Object.keys(pinned) as (keyof IkaIds)[]) {
    if (text(pinned[name]) === text(announced[name])) continue;
    throw new TssError("NETWORK_MISMATCH", `the service's ${name} differs from the network's`, {
      metadata: { field: name },
    });
  }
}

function text(id: string | SharedObjectId): string {
  return typeof id === "string" ? id : `${id.objectId} ${id.initialSharedVersion}`;
}

function sharedObject(object: SharedObject | undefined): SharedObjectId {
  return {
    objectId: objectId(object?.objectId),
    initialSharedVersion: object?.initialSharedVersion ?? 0n,
  };
}

function objectId(id: string | undefined): string {
  if (isObjectId(id)) return id;
  throw new TssError("NETWORK_MISMATCH", "the service names no Ika objects");
}

/** The constants of a public network that are built into the client, so that no service can name another chain. */
export interface ChainPins {
  /** The digest of the genesis checkpoint, in Base58. */
  readonly chainIdentifier: string;
  readonly fullnodeUrls: readonly string[];
  readonly ika: IkaIds;
}

interface SharedObjectId {
  readonly objectId: string;
  /** The version at which it was shared. */
  readonly initialSharedVersion: bigint;
}

/** The ids of Ika from which a client reads the chain. They never change: an upgrade adds packages and keeps these. */
export interface IkaObjects {
  /** The original package of the coordinator's types. */
  readonly ikaDwallet2pcMpcOriginalPackage: string;
  readonly ikaDwalletCoordinator: { readonly objectId: string };
}

/** All ids of Ika that a service announces. They never change either. */
export interface IkaIds extends IkaObjects {
  /** The package of the IKA coin. */
  readonly ikaPackage: string;
  /** The original package of the Ika system's types. */
  readonly ikaSystemOriginalPackage: string;
  readonly ikaSystemObject: SharedObjectId;
  readonly ikaDwalletCoordinator: SharedObjectId;
}

/** A network with one public chain. */
type PublicNetwork = Exclude<Network, "localnet">;

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
