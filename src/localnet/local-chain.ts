import { tmpdir } from "node:os";
import { join } from "node:path";
import type { IkaConfig } from "@ika.xyz/sdk";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { blake2b256 } from "../protocol/chain/sui-hash.ts";
import type { CallPrices } from "./call-prices.ts";
import { type NetworkAddresses, type NetworkKeyOutputs, networkAddresses } from "./contracts/addresses.ts";
import { FIRST_EPOCH } from "./contracts/coordinator/coordinator-genesis.ts";
import { networkKeyIndex, networkKeySeed } from "./contracts/coordinator/network-keys.ts";
import { moveCodecs, NUMBER_LISTS } from "./contracts/move-codecs.ts";
import { networkFunctions } from "./contracts/network-functions.ts";
import { durableHistory, type History, volatileHistory } from "./durable-ledger.ts";
import { createFaucet, type FaucetCoin, faucetRoutes } from "./faucet.ts";
import { type ChainControls, createChainControls } from "./faults/chain-controls.ts";
import { faultRoutes } from "./faults/fault-routes.ts";
import type { FaultSettings } from "./faults/fault-settings.ts";
import { createFaults, type Faults, faultyFunctions, faultyMethods, faultyMpc } from "./faults/faults.ts";
import type { FunctionTable } from "./fullnode/execution/move-function.ts";
import { createLaggingLedger, createLedger, type Ledger } from "./fullnode/objects/ledger.ts";
import { SUI_TYPE } from "./fullnode/objects/sui-types.ts";
import { executionService } from "./fullnode/services/execution-service.ts";
import { ledgerLists } from "./fullnode/services/ledger-lists.ts";
import { ledgerService } from "./fullnode/services/ledger-service.ts";
import { movePackageService } from "./fullnode/services/move-package-service.ts";
import { signatureService } from "./fullnode/services/signature-service.ts";
import { stateService } from "./fullnode/services/state-service.ts";
import { subscriptionService } from "./fullnode/services/subscription-service.ts";
import { createMoveJson } from "./fullnode/wire/move-json.ts";
import { type AnswerCall, createCallAnswerer, type StreamingMethod } from "./fullnode/wire/node-methods.ts";
import { createObjectProjection } from "./fullnode/wire/object-proto.ts";
import type { JsonRoute } from "./fullnode/wire/server.ts";
import { genesisCommit } from "./genesis.ts";
import { ikaConfigOf } from "./ika-config.ts";
import type { NetworkMpc } from "./mpc/engine.ts";
import { createKeyring } from "./mpc/network-key.ts";
import { startNetwork, type WriteLog } from "./network.ts";
import { LOCALNET_SEED, localnetHotWalletSecret } from "./seed.ts";

/** Creates an Ika network with a Sui fullnode in this process, without a listening socket. */
export async function openLocalChain(options: LocalChainOptions = {}): Promise<LocalChain> {
  const seed = options.seed ?? LOCALNET_SEED;
  if (seed.length !== SEED_BYTES) throw new Error(`seed must have ${SEED_BYTES} bytes, has ${seed.length}`);
  const log = options.log ?? (() => undefined);
  const operatorCount = options.operatorCount ?? DEFAULT_OPERATOR_COUNT;
  const addresses = networkAddresses(seed, operatorCount);
  const hotWalletAddress = normalizeSuiAddress(options.hotWalletAddress ?? defaultHotWallet(seed));
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const close of stops.splice(0).reverse()) await close();
  };
  try {
    const faults = createFaults(options.faultSeed ?? seed, options.faults, options.pause);
    const bareMpc = options.mpc ?? (await realMpc(seed, options));
    if (options.mpc === undefined) stops.push(() => bareMpc.close());
    const mpc = faultyMpc(bareMpc, faults);
    let skippedMs = 0;
    const clock = () => (options.clock ?? Date.now)() + skippedMs;
    const history = await openHistory(
      options,
      { seed, log, operatorCount, addresses, hotWalletAddress, mpc, clock },
      stops,
    );
    const epochDurationMs = epochDurationOf(options);
    const ledger = createLedger(history.commits, { epochDurationMs, log: history.log, clock });
    // An epoch that was ended early stays ended: time continues from the chain's last timestamp.
    skippedMs = Math.max(0, Number(ledger.now().timestampMs) - clock());
    const keyring = createKeyring(mpc, async (index) => {
      const made = options.mpc ?? (await realMpc(networkKeySeed(seed, index), options));
      return options.mpc === undefined ? faultyMpc(made, faults) : mpc;
    });
    stops.push(() => keyring.close());
    const controls = createChainControls({
      ledger,
      addresses,
      seed,
      keyring,
      firstOutputs: (made, epoch) => firstOutputs(made, options, epoch),
      skipTime(durationMs) {
        skippedMs += durationMs;
      },
    });
    if (options.prices !== undefined && Object.keys(options.prices).length > 0)
      await controls.setPrices(options.prices);
    const lagging = createLaggingLedger(ledger, history.commits, () => faults.settings.staleCommits);
    const mpcOf = (keyId: string) => keyring.at(networkKeyIndex(ledger.objects, seed, keyId));
    const network = startNetwork({ ledger, addresses, mpcOf, log });
    stops.push(() => network.close());
    const faucet = createFaucet(ledger, addresses.ikaCoinType, options.faucetCoinCount);
    const functions: FunctionTable = Object.assign(faultyFunctions(networkFunctions(addresses), faults), {
      onMissing: missingFunctionLog(log),
    });
    const toJson = createMoveJson(moveCodecs(addresses), NUMBER_LISTS);
    const project = createObjectProjection(toJson);
    const reads = (of: Ledger) => [
      ...ledgerService(of, project, toJson, () => faults.settings.keptCheckpoints),
      ...stateService(of, coinInfos(addresses), project),
    ];
    const treasury = {
      packageId: addresses.treasuryPackageId,
      treasuryId: addresses.treasuryId,
      adminCapId: addresses.adminCapId,
      operatorCapIds: addresses.operatorCapIds,
    };
    const describe = () => ({ ikaConfig: ikaConfigOf(addresses), treasury, hotWalletAddress });
    const methods = faultyMethods(
      [
        ...reads(ledger),
        ...executionService(ledger, functions, toJson, () => faults.happens(faults.settings.congestion)),
        ...movePackageService(functions, ledger.objects),
        ...signatureService(),
      ],
      [...reads(lagging), ...executionService(lagging, functions, toJson)],
      faults,
    );
    return {
      chainId: ledger.chainId,
      get ikaConfig() {
        return ikaConfigOf(addresses);
      },
      treasury,
      networkEncryptionKeyId: addresses.networkEncryptionKeyId,
      ikaCoinType: addresses.ikaCoinType,
      hotWalletAddress,
      fund: faucet,
      faults,
      controls,
      answerCall: createCallAnswerer(methods, log),
      streamingMethods: [
        ...ledgerLists(ledger, toJson, () => faults.settings.keptCheckpoints),
        ...subscriptionService(ledger, toJson, {
          isRefused: () => faults.settings.noSubscriptions,
          isCut: () => faults.happens(faults.settings.cutSubscription),
        }),
      ],
      routes: [...faucetRoutes(faucet), ...faultRoutes(faults, controls), networkRoute(describe)],
      close: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A local network, with or without a listening server. */
export interface LocalChain {
  readonly chainId: string;
  /** A new copy on each access, because an `IkaClient` changes its config. */
  readonly ikaConfig: IkaConfig;
  readonly treasury: LocalnetTreasury;
  /** The first network encryption key. */
  readonly networkEncryptionKeyId: string;
  readonly ikaCoinType: string;
  readonly hotWalletAddress: string;
  /** Gives an address 1,000 SUI and 1,000 IKA. */
  fund(address: string): Promise<readonly FaucetCoin[]>;
  /** The faults to inject; also over `POST /localnet/faults`. */
  readonly faults: Faults;
  /** Changes of the chain by the network itself; also over `POST /localnet/...`. */
  readonly controls: ChainControls;
  /** Answers a call to the fullnode. */
  readonly answerCall: AnswerCall;
  /** The fullnode's calls that answer with a stream, for a listening server. */
  readonly streamingMethods: readonly StreamingMethod[];
  /** Further HTTP routes for a listening server. */
  readonly routes: readonly JsonRoute[];
  /** Stops the network: abandons running sessions, which a restart resumes, and waits for pending writes. */
  close(): Promise<void>;
}

/** Options of a local network. All have defaults. */
export interface LocalChainOptions {
  /**
   * The folder for the chain's state, which survives restarts and kills. Without it the state ends with the process.
   */
  readonly dataDirectory?: string;
  /** Owns the Treasury's caps and receives gas coins; default: the address of `localnetHotWalletSecret`. */
  readonly hotWalletAddress?: string;
  /** The number of SUI coins, and of IKA coins, that the faucet gives at once, 1 to 50; default 1. */
  readonly faucetCoinCount?: number | undefined;
  /** Further addresses that start with gas coins and IKA. */
  readonly accounts?: readonly string[];
  /** 32 bytes from which all ids and the network encryption key are derived; default: the public LOCALNET_SEED. */
  readonly seed?: Uint8Array;
  /** The network's cryptography; default: the real one on a worker thread. A caller that passes one also closes it. */
  readonly mpc?: NetworkMpc;
  /** The folder for the tables of the real cryptography; default: inside `dataDirectory` or the temporary folder. */
  readonly cacheDirectory?: string;
  /** True for network keys with a DKG output of version 1 and a reconfiguration output, as on the live networks. */
  readonly hasVersion1Dkg?: boolean;
  /** The prices of Ika's calls, from this start on. Default: those that the chain has, which a new chain has of Ika. */
  readonly prices?: CallPrices | undefined;
  /** The number of the Treasury's OperatorCaps; default 4. */
  readonly operatorCount?: number;
  /** The length of a Sui epoch; default 24 hours. */
  readonly epochDurationMs?: number;
  /** Milliseconds since the epoch; default Date.now. */
  readonly clock?: () => number;
  /** Waits for the delays of faults; default: in real time. */
  readonly pause?: (durationMs: number) => Promise<void>;
  /** The initial faults; default none. They can be changed while the network runs. */
  readonly faults?: Partial<FaultSettings>;
  /** The seed of the random draws for faults; default: the network's seed. */
  readonly faultSeed?: Uint8Array;
  readonly log?: WriteLog;
}

/** The Treasury's ids. */
interface LocalnetTreasury {
  readonly packageId: string;
  readonly treasuryId: string;
  readonly adminCapId: string;
  readonly operatorCapIds: readonly string[];
}

/** Returns a listener that logs each function once that a transaction misses, up to a bound. */
function missingFunctionLog(log: WriteLog): (fullName: string) => void {
  const known = new Set<string>();
  return (fullName) => {
    if (known.has(fullName) || known.size >= MAX_LOGGED_FUNCTIONS) return;
    known.add(fullName);
    log("function not found", { function: fullName.slice(0, MAX_LOGGED_CHARACTERS) });
  };
}

const MAX_LOGGED_FUNCTIONS = 100;
const MAX_LOGGED_CHARACTERS = 400;
const DEFAULT_OPERATOR_COUNT = 4;
const SEED_BYTES = 32;

async function realMpc(seed: Uint8Array, options: LocalChainOptions): Promise<NetworkMpc> {
  const { createNetworkMpc } = await import("./mpc/create-network-mpc.ts");
  const base = options.dataDirectory ?? join(tmpdir(), "ika-localnet");
  return createNetworkMpc({ seed, cacheDirectory: options.cacheDirectory ?? join(base, "mpc-cache") });
}

function defaultHotWallet(seed: Uint8Array): string {
  return Ed25519Keypair.fromSecretKey(localnetHotWalletSecret(seed)).toSuiAddress();
}

function coinInfos(addresses: NetworkAddresses) {
  return [
    { coinType: SUI_TYPE, name: "Sui", symbol: "SUI", decimals: 9 },
    { coinType: addresses.ikaCoinType, name: "IKA Token", symbol: "IKA", decimals: 9 },
  ];
}

/** Opens the network's history from its data folder, or creates a genesis. */
async function openHistory(
  options: LocalChainOptions,
  parts: LedgerParts,
  stops: (() => Promise<void>)[],
): Promise<History> {
  const { seed, log, operatorCount, addresses, hotWalletAddress, mpc, clock } = parts;
  const genesis = async () =>
    genesisCommit({
      seed,
      addresses,
      hotWalletAddress,
      accounts: (options.accounts ?? []).map((address) => normalizeSuiAddress(address)),
      networkKeyOutputs: await firstOutputs(mpc, options, FIRST_EPOCH),
      timestampMs: BigInt(clock()),
    });
  const identity = {
    seedDigest: blake2b256(utf8ToBytes("ika-localnet/identity/"), seed),
    hotWalletAddress,
    operatorCount,
    epochDurationMs: epochDurationOf(options),
  };
  const history =
    options.dataDirectory === undefined
      ? await volatileHistory(genesis)
      : await durableHistory(options.dataDirectory, identity, genesis, log);
  stops.push(() => history.close());
  return history;
}

const DEFAULT_EPOCH_DURATION_MS = 24 * 60 * 60 * 1000;

interface LedgerParts {
  readonly seed: Uint8Array;
  readonly log: WriteLog;
  readonly operatorCount: number;
  readonly addresses: NetworkAddresses;
  readonly hotWalletAddress: string;
  readonly mpc: NetworkMpc;
  readonly clock: () => number;
}

/**
 * Returns the outputs of a new key in this epoch. With a DKG output of version 1, there is also a reconfiguration
 * output.
 */
async function firstOutputs(
  mpc: NetworkMpc,
  { hasVersion1Dkg = false }: Pick<LocalChainOptions, "hasVersion1Dkg">,
  epoch: bigint,
): Promise<NetworkKeyOutputs> {
  const dkg = await mpc.networkDkgPublicOutput();
  if (!hasVersion1Dkg) return { dkg };
  const { version1Output } = await import("./mpc/reconfiguration-output.ts");
  return {
    dkg: version1Output(dkg),
    reconfiguration: await mpc.networkReconfigurationPublicOutput(epoch),
  };
}

/** Returns the length of a Sui epoch in milliseconds. */
function epochDurationOf(options: LocalChainOptions): bigint {
  return BigInt(options.epochDurationMs ?? DEFAULT_EPOCH_DURATION_MS);
}

/** Returns the route `GET /localnet/network`, which shows the network's ids. */
function networkRoute(describe: () => LocalnetDescription): JsonRoute {
  return {
    method: "GET",
    path: "/localnet/network",
    handle: async () => ({ status: 200, json: describe() }),
  };
}

/** The parameters that a service needs to use a localnet in another process. */
interface LocalnetDescription {
  readonly ikaConfig: IkaConfig;
  readonly treasury: LocalnetTreasury;
  /** The address that owns the Treasury's caps and received the gas coins. */
  readonly hotWalletAddress: string;
}
