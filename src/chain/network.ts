import { IkaClient, type IkaConfig } from "@ika.xyz/sdk";
import type { Signer } from "@mysten/sui/cryptography";
import { GrpcWebFetchTransport, SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import type { Clock } from "../lifecycle/clock.ts";
import { bindAnswers, type MixUpReport } from "../protocol/bind-answers.ts";
import type { Secret } from "../telemetry/secret.ts";
import { type BackOff, type BackOffs, createBackOffs } from "./back-off.ts";
import { withDeadline } from "./with-deadline.ts";

/** Connects: reads Ika's packages and the shared objects. Throws when the fullnode does not answer or lacks them. */
export async function connectNetwork(options: NetworkOptions): Promise<ChainNetwork> {
  const { name, fullnodeUrl, publicFullnodeUrl, ikaConfig, treasury, clock } = options;
  const transport = new GrpcWebFetchTransport({
    baseUrl: fullnodeUrl.reveal(),
    format: "binary",
    ...(options.fetch ? { fetch: options.fetch } : {}),
  });
  const client = new SuiGrpcClient({ network: name, transport: bindAnswers(transport, options.onMixUp) });
  const times = options.times ?? DEFAULT_TIMES;
  const backOffs = createBackOffs(clock);
  const ika = new IkaClient({ suiClient: client, config: ikaConfig });
  await withDeadline(clock, times.readMs, () => ika.initialize());
  const hotWallet = Ed25519Keypair.fromSecretKey(options.hotWalletSecret.reveal());
  const gasStation =
    options.gasStationSecret && Ed25519Keypair.fromSecretKey(options.gasStationSecret.reveal());
  return {
    name,
    publicFullnodeUrl,
    client,
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
    hotWallet,
    gasOwner: gasStation ?? hotWallet,
    senderAddress: hotWallet.toSuiAddress(),
    gasOwnerAddress: (gasStation ?? hotWallet).toSuiAddress(),
  };
}

/** The Treasury's objects on one network. */
export interface TreasuryIds {
  readonly packageId: string;
  readonly treasuryId: string;
  /** OperatorCaps that the hot wallet owns. */
  readonly operatorCapIds: readonly string[];
}

/** Where a network is and as whom the service acts there. */
export interface NetworkAccess {
  readonly name: string;
  /** The service's own fullnode. Providers put their key into the URL, so that nobody is shown it. */
  readonly fullnodeUrl: Secret;
  /** The fullnode that GetNetwork shows to clients. Default: none. */
  readonly publicFullnodeUrl?: string | undefined;
  /** Becomes this network's own: the Ika client completes it in place. */
  readonly ikaConfig: IkaConfig;
  readonly treasury: TreasuryIds;
  /** The hot wallet's Ed25519 secret, 32 bytes. */
  readonly hotWalletSecret: Secret<Uint8Array>;
  /** The Ed25519 secret, 32 bytes, of a gas station that pays for the hot wallet's transactions. */
  readonly gasStationSecret?: Secret<Uint8Array> | undefined;
}

/** How a network is called. */
export interface NetworkOptions extends NetworkAccess {
  /** By which calls are timed. */
  readonly clock: Clock;
  readonly times?: CallTimes;
  /** How to reach the fullnode; default the global one. */
  readonly fetch?: typeof fetch;
  /** Told of each answer that belongs to another question; default nobody. */
  readonly onMixUp?: MixUpReport | undefined;
}

/** How long calls to the fullnode may take, in milliseconds. */
export interface CallTimes {
  /** Default 10 s; a read is tried twice. */
  readonly readMs: number;
  /** A dry run, default 30 s. */
  readonly buildMs: number;
  /** Default 60 s. */
  readonly executeMs: number;
}

const DEFAULT_TIMES: CallTimes = { readMs: 10_000, buildMs: 30_000, executeMs: 60_000 };

/** A shared object by explicit reference, so that a transaction needs no look-up. */
export interface SharedRef {
  readonly objectId: string;
  readonly initialSharedVersion: string;
}

/** A connected network. */
export interface ChainNetwork {
  readonly name: string;
  /** The fullnode that GetNetwork shows to clients; undefined for none. */
  readonly publicFullnodeUrl: string | undefined;
  /** Rejects answers to other questions than were asked. */
  readonly client: SuiGrpcClient;
  /** Every call to the fullnode goes through it: that of `work`, unless {@link inBackground} says otherwise. */
  readonly backOff: BackOff;
  /** Told of each answer that belongs to another question. */
  readonly onMixUp?: MixUpReport | undefined;
  readonly backOffs: BackOffs;
  readonly times: CallTimes;
  /** By which calls are timed. */
  readonly clock: Clock;
  readonly ika: IkaClient;
  readonly ikaConfig: IkaConfig;
  readonly treasury: TreasuryIds;
  readonly treasuryRef: SharedRef;
  readonly coordinatorRef: SharedRef;
  /** The sender of every transaction whose kind of operation does not name another one. */
  readonly hotWallet: Signer;
  /** Signs for the gas: the gas station, or else the hot wallet. */
  readonly gasOwner: Signer;
  readonly senderAddress: string;
  /** Whose coins pay for gas: the gas station's, or else the hot wallet's own. */
  readonly gasOwnerAddress: string;
}

/** The network for what nobody's signature or deposit waits for. */
export function inBackground(network: ChainNetwork): ChainNetwork {
  return { ...network, backOff: network.backOffs.background };
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
