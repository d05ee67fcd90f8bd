import { IkaClient, type IkaConfig } from "@ika.xyz/sdk";
import type { Signer } from "@mysten/sui/cryptography";
import { GrpcWebFetchTransport, SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { bindAnswers, type MixUpReport } from "../../../protocol/chain/bind-answers.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import type { Secret } from "../../platform/telemetry/secret.ts";
import { type BackOff, type BackOffs, createBackOffs } from "./back-off.ts";
import { boundMessages } from "./bound-messages.ts";
import { createFullnodes, type FullnodeStatus, type Fullnodes } from "./fullnodes.ts";
import { fetchFullnode } from "./network-fetch.ts";
import { withDeadline } from "./with-deadline.ts";

/**
 * Connects to a network and reads Ika's packages and the shared objects. Throws if the fullnode does not answer or
 * lacks them, and if neither the wallets' keys nor their addresses are known.
 */
export async function connectNetwork(options: NetworkOptions): Promise<ChainNetwork> {
  const { name, fullnodeUrl, publicFullnodeUrl, ikaConfig, treasury, clock } = options;
  const wallets = walletsOf(options);
  const fullnodes = openFullnodes(options);
  const transport = new GrpcWebFetchTransport({
    baseUrl: fullnodeUrl.reveal(),
    format: "binary",
    fetch: boundMessages(fullnodes.fetch),
  });
  const client = new SuiGrpcClient({ network: name, transport: bindAnswers(transport, options.onMixUp) });
  const times = options.times ?? DEFAULT_TIMES;
  const backOffs = createBackOffs(clock);
  const ika = new IkaClient({ suiClient: client, config: ikaConfig });
  await withDeadline(clock, times.readMs, () => ika.initialize());
  return {
    name,
    publicFullnodeUrl,
    fullnodes: fullnodes.statuses,
    pinChain: fullnodes.pinChain,
    client,
    fetch: options.fetch ?? fetchFullnode,
    onMixUp: options.onMixUp,
    backOff: backOffs.work,
    backOffs,
    times,
    clock,
    ika,
    ikaConfig,
    treasury,
    treasuryRef: await sharedRef(client, { clock, ...times }, treasury.treasuryId),
    coordinatorRef: await sharedRef(
      client,
      { clock, ...times },
      ikaConfig.objects.ikaDWalletCoordinator.objectID,
    ),
    ...wallets,
  };
}

/** The Treasury's objects on one network. */
export interface TreasuryIds {
  readonly packageId: string;
  readonly treasuryId: string;
  /** OperatorCaps that the hot wallet owns. */
  readonly operatorCapIds: readonly string[];
}

/** The address of a network and the service's keys there. */
export interface NetworkAccess {
  readonly name: string;
  /** The service's own fullnode. The URL is secret, because providers put their key into it. */
  readonly fullnodeUrl: Secret;
  /** Further fullnodes of the service, each tried when all before it have failed. Default: none. */
  readonly otherFullnodeUrls?: readonly Secret[] | undefined;
  /** The fullnode that GetNetwork shows to clients. Default: none. */
  readonly publicFullnodeUrl?: string | undefined;
  /** The network takes ownership: the Ika client completes it in place. */
  readonly ikaConfig: IkaConfig;
  readonly treasury: TreasuryIds;
  /** Only for tests: true if a localnet poses as this network. No setting reaches this field. Default false. */
  readonly isPosing?: boolean;
  /** The hot wallet's Ed25519 secret, 32 bytes. Undefined in a process that signs nothing. */
  readonly hotWalletSecret?: Secret<Uint8Array> | undefined;
  /** The Ed25519 secret, 32 bytes, of a gas station that pays for the hot wallet's transactions. */
  readonly gasStationSecret?: Secret<Uint8Array> | undefined;
  /** The wallets' addresses. Ignored if the hot wallet's secret is known. */
  readonly walletAddresses?: WalletAddresses | undefined;
  /** The fetch function for the hosts of the network's configuration. Default: the global one, with native gRPC. */
  readonly fetch?: typeof fetch;
}

/** The addresses of the wallets that the service signs with. */
export interface WalletAddresses {
  /** The hot wallet's address. */
  readonly senderAddress: string;
  /** The owner of the gas coins: the gas station if there is one, else the hot wallet. */
  readonly gasOwnerAddress: string;
}

/** Options of {@link connectNetwork}. */
export interface NetworkOptions extends NetworkAccess {
  /** The clock of the calls' time limits. */
  readonly clock: Clock;
  readonly times?: CallTimes;
  /** Called for each reply that belongs to another request. Default: none. */
  readonly onMixUp?: MixUpReport | undefined;
  /** The identifier of the chain that the database belongs to. Default: the first fullnode that answers decides. */
  readonly chain?: string | undefined;
  /** Called with the host when calls move to another fullnode. Default: none. */
  readonly onSwitch?: ((host: string) => void) | undefined;
}

/** The time limits of calls to the fullnode, in milliseconds. */
export interface CallTimes {
  /** The limit of one attempt of a read, which has two attempts. Default 10 s. */
  readonly readMs: number;
  /** The limit of a dry run. Default 30 s. */
  readonly buildMs: number;
  /** The limit of an execution. Default 60 s. */
  readonly executeMs: number;
}

const DEFAULT_TIMES: CallTimes = { readMs: 10_000, buildMs: 30_000, executeMs: 60_000 };

/** A shared object by explicit reference, so that a transaction needs no look-up. */
export interface SharedRef {
  readonly objectId: string;
  readonly initialSharedVersion: string;
}

/** A connected network. */
export interface ChainNetwork extends WalletAddresses {
  readonly name: string;
  /** The fullnode that GetNetwork shows to clients; undefined for none. */
  readonly publicFullnodeUrl: string | undefined;
  /** Returns the status of each of the service's own fullnodes; empty if there is only one. */
  readonly fullnodes: () => FullnodeStatus[];
  /** Sets the chain that the fullnodes' replies must name, once its identifier has been checked. */
  readonly pinChain: (chainIdentifier: string) => void;
  /** Rejects replies that belong to another request. */
  readonly client: SuiGrpcClient;
  /** The fetch function for the hosts of the network's configuration. */
  readonly fetch: typeof fetch;
  /** The back-off of every call to the fullnode: `work`, or `background` after {@link inBackground}. */
  readonly backOff: BackOff;
  /** Called for each reply that belongs to another request. */
  readonly onMixUp?: MixUpReport | undefined;
  readonly backOffs: BackOffs;
  readonly times: CallTimes;
  /** The clock of the calls' time limits. */
  readonly clock: Clock;
  readonly ika: IkaClient;
  readonly ikaConfig: IkaConfig;
  readonly treasury: TreasuryIds;
  readonly treasuryRef: SharedRef;
  readonly coordinatorRef: SharedRef;
  /** The default sender of transactions. Undefined in a process that signs nothing. */
  readonly hotWallet: Signer | undefined;
  /** Signs for the gas: the gas station if there is one, else the hot wallet. Undefined if the hot wallet is. */
  readonly gasOwner: Signer | undefined;
}

/** Returns the network for background reads, which no signature or deposit waits for. */
export function inBackground(network: ChainNetwork): ChainNetwork {
  return { ...network, backOff: network.backOffs.background };
}

type Wallets = WalletAddresses & Pick<ChainNetwork, "hotWallet" | "gasOwner">;

function walletsOf({ name, hotWalletSecret, gasStationSecret, walletAddresses }: NetworkOptions): Wallets {
  if (hotWalletSecret === undefined) {
    if (walletAddresses === undefined) throw new Error(`the addresses of the wallets on ${name} are unknown`);
    const { senderAddress, gasOwnerAddress } = walletAddresses;
    return { hotWallet: undefined, gasOwner: undefined, senderAddress, gasOwnerAddress };
  }
  const hotWallet = Ed25519Keypair.fromSecretKey(hotWalletSecret.reveal());
  const gasOwner = gasStationSecret ? Ed25519Keypair.fromSecretKey(gasStationSecret.reveal()) : hotWallet;
  return {
    hotWallet,
    gasOwner,
    senderAddress: hotWallet.toSuiAddress(),
    gasOwnerAddress: gasOwner.toSuiAddress(),
  };
}

function openFullnodes(options: NetworkOptions): Fullnodes {
  const { name, clock, chain, onSwitch, otherFullnodeUrls = [] } = options;
  const send: typeof fetch = (input, init) => (options.fetch ?? fetchFullnode)(input, init);
  const urls = [options.fullnodeUrl, ...otherFullnodeUrls].map((url) => url.reveal());
  return createFullnodes({
    urls,
    chain,
    send,
    clock,
    onSwitch,
    async chainOf(baseUrl) {
      const client = new SuiGrpcClient({ network: name, baseUrl, format: "binary", fetch: send });
      const { readMs } = options.times ?? DEFAULT_TIMES;
      const asked = withDeadline(clock, readMs, (signal) => client.core.getChainIdentifier({ signal }));
      return (await asked).chainIdentifier;
    },
  });
}

async function sharedRef(
  client: SuiGrpcClient,
  { clock, readMs }: Pick<ChainNetwork, "clock"> & CallTimes,
  objectId: string,
): Promise<SharedRef> {
  const { object } = await withDeadline(clock, readMs, (signal) =>
    client.core.getObject({ objectId, signal }),
  );
  if (object.owner.$kind !== "Shared") throw new Error(`${objectId} is not a shared object`);
  return { objectId, initialSharedVersion: object.owner.Shared.initialSharedVersion };
}
