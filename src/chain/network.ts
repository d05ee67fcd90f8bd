import { IkaClient, type IkaConfig } from "@ika.xyz/sdk";
import type { Signer } from "@mysten/sui/cryptography";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import type { Secret } from "../telemetry/secret.ts";
import { createPressure, type Pressure } from "./pressure.ts";
import { withDeadline } from "./with-deadline.ts";

/** The Treasury's objects on one network. */
export interface TreasuryIds {
  readonly packageId: string;
  readonly treasuryId: string;
  /** OperatorCaps that the hot wallet owns. */
  readonly operatorCapIds: readonly string[];
}

/** Where a network is and as whom the service acts there. */
export interface NetworkOptions {
  readonly name: string;
  readonly fullnodeUrl: string;
  /** Becomes this network's own: the Ika client completes it in place. */
  readonly ikaConfig: IkaConfig;
  readonly treasury: TreasuryIds;
  /** The hot wallet's Ed25519 secret, 32 bytes. */
  readonly hotWalletSecret: Secret<Uint8Array>;
  /** The Ed25519 secret, 32 bytes, of a gas station that pays for the hot wallet's transactions. */
  readonly gasStationSecret?: Secret<Uint8Array> | undefined;
  readonly times?: CallTimes;
  /** How to reach the fullnode; default the global one. */
  readonly fetch?: typeof fetch;
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
  readonly fullnodeUrl: string;
  readonly client: SuiGrpcClient;
  /** Every call to the fullnode goes through it. */
  readonly pressure: Pressure;
  readonly times: CallTimes;
  readonly ika: IkaClient;
  readonly ikaConfig: IkaConfig;
  readonly treasury: TreasuryIds;
  readonly treasuryRef: SharedRef;
  readonly coordinatorRef: SharedRef;
  /** Sends what no kind of operation sends as somebody else. */
  readonly hotWallet: Signer;
  /** Signs for the gas: the gas station, or else the hot wallet. */
  readonly gasOwner: Signer;
  readonly senderAddress: string;
  /** Whose coins pay for gas: the gas station's, or else the hot wallet's own. */
  readonly gasOwnerAddress: string;
}

/** Connects: reads Ika's packages and the shared objects. Throws when the fullnode does not answer or lacks them. */
export async function connectNetwork(options: NetworkOptions): Promise<ChainNetwork> {
  const { name, fullnodeUrl, ikaConfig, treasury } = options;
  const client = new SuiGrpcClient({
    network: name,
    baseUrl: fullnodeUrl,
    format: "binary",
    ...(options.fetch ? { fetch: options.fetch } : {}),
  });
  const times = options.times ?? DEFAULT_TIMES;
  const ika = new IkaClient({ suiClient: client, config: ikaConfig });
  await withDeadline(times.readMs, () => ika.initialize());
  const hotWallet = Ed25519Keypair.fromSecretKey(options.hotWalletSecret.reveal());
  const gasStation =
    options.gasStationSecret && Ed25519Keypair.fromSecretKey(options.gasStationSecret.reveal());
  return {
    name,
    fullnodeUrl,
    client,
    pressure: createPressure(),
    times,
    ika,
    ikaConfig,
    treasury,
    treasuryRef: await sharedRef(client, times, treasury.treasuryId),
    coordinatorRef: await sharedRef(client, times, ikaConfig.objects.ikaDWalletCoordinator.objectID),
    hotWallet,
    gasOwner: gasStation ?? hotWallet,
    senderAddress: hotWallet.toSuiAddress(),
    gasOwnerAddress: (gasStation ?? hotWallet).toSuiAddress(),
  };
}

async function sharedRef(client: SuiGrpcClient, { readMs }: CallTimes, objectId: string): Promise<SharedRef> {
  const { object } = await withDeadline(readMs, (signal) => client.core.getObject({ objectId, signal }));
  if (object.owner.$kind !== "Shared") throw new Error(`${objectId} is not a shared object`);
  return { objectId, initialSharedVersion: object.owner.Shared.initialSharedVersion };
}
