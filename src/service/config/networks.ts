import { bytesToHex } from "@noble/hashes/utils.js";
import { localnetHotWalletSecret } from "../../localnet/seed.ts";
import {
  CURVE_ALGORITHMS,
  type CurveAlgorithm,
  findSignatureAlgorithm,
  isUnsupportedAlgorithm,
} from "../../protocol/algorithms.ts";
import type { PriceTable } from "../../protocol/price-table.ts";
import type { CostClassName } from "../access/method-policy.ts";
import type { RateLimits } from "../access/rate-limiter.ts";
import type { CallerReadLimits } from "../chain/fullnodes/caller-reads.ts";
import { Secret } from "../platform/telemetry/secret.ts";
import { readPriceTable } from "./billing.ts";
import { type DepositsConfig, readDepositsConfig, readSweepConfig, type SweepConfig } from "./deposits.ts";
import { readRateLimits } from "./limits.ts";
import { type NetworkAddress, type NetworkName, readNetworkAddress, readNetworkNames } from "./network.ts";
import type { ConfigReader } from "./reader.ts";
import type { VariableName } from "./variables.ts";

/** Reads the settings of each served network, in the order of `NETWORKS`. */
export function readNetworks(read: ConfigReader<VariableName>): readonly [NetworkConfig, ...NetworkConfig[]] {
  const [first, ...others] = readNetworkNames(read);
  const hasOthers = others.length > 0;
  const provider = read.text("HOT_WALLET_PROVIDER");
  if (provider !== "env") read.fault("HOT_WALLET_PROVIDER", provider, "env");
  if (hasOthers) for (const name of OWN_KEYS) if (read.isSet(name)) refuseSharedKey(read, name);
  const networkOf = (name: NetworkName) => readNetwork(read.forNetwork(name, hasOthers), name);
  return [networkOf(first), ...others.map(networkOf)];
}

/** The settings of one network. */
export interface NetworkConfig {
  readonly name: NetworkName;
  readonly address: NetworkAddress;
  /**
   * 64 hex digits. Default on the localnet: its public development key, which other networks refuse. Undefined in an api
   * process, which signs nothing.
   */
  readonly hotWalletSecretHex: Secret | undefined;
  /** 64 hex digits. Undefined if the hot wallet pays for gas, and in an api process. */
  readonly gasStationSecretHex: Secret | undefined;
  readonly prices: PriceTable;
  readonly deposits: DepositsConfig;
  readonly sweeps: SweepConfig;
  readonly presignBuckets: readonly CurveAlgorithm[];
  readonly presignLowWaterCount: number;
  readonly presignHighWaterCount: number;
  readonly presignBatchCount: number;
  readonly reservationTtlMs: number;
  readonly openReservationsMaxCount: number;
  readonly dkgsPerDay: number;
  /** The maximum number of users of a project, deleted ones included. */
  readonly usersMaxCount: number;
  readonly refundsPerDay: number;
  /** The number of one project's wrong halves that are verified per minute. */
  readonly wrongHalvesPerMinute: number;
  /** The limits of calls that need a project's key, for the keys of this network. */
  readonly rateLimits: RateLimits<CostClassName>;
  /** The limits of fullnode reads that calls may cause. */
  readonly callerReads: CallerReadLimits;
  /** The number of threads that verify halves and signatures. */
  readonly verifyThreads: number;
  readonly submitBatchCount: number;
}

function readNetwork(read: ConfigReader<VariableName>, name: NetworkName): NetworkConfig {
  const isLocalnet = name === "localnet";
  const address = readNetworkAddress(read, name);
  const network = {
    name,
    address,
    hotWalletSecretHex: readHotWallet(read, name),
    gasStationSecretHex: read.secretKey(GAS_STATION[name]),
    prices: readPriceTable(read),
    deposits: readDepositsConfig(read, isLocalnet),
    sweeps: readSweepConfig(read, name),
    presignBuckets: readBuckets(read, "PRESIGN_BUCKETS"),
    presignLowWaterCount: read.integer("PRESIGN_POOL_LOW_WATER", 0, 10_000, isLocalnet ? 2 : 20),
    presignHighWaterCount: read.integer("PRESIGN_POOL_HIGH_WATER", 1, 10_000),
    presignBatchCount: read.integer("PRESIGN_BATCH_SIZE", 1, 32),
    reservationTtlMs: 1000 * read.integer("PRESIGN_RESERVATION_TTL_SECONDS", 1, 86_400),
    openReservationsMaxCount: read.integer("MAX_OPEN_RESERVATIONS_PER_PROJECT", 1, 10_000),
    dkgsPerDay: read.integer("MAX_DKGS_PER_PROJECT_PER_DAY", 0, 1_000_000),
    usersMaxCount: read.integer("MAX_USERS_PER_PROJECT", 0, 10_000_000),
    refundsPerDay: read.integer("MAX_REFUNDS_PER_PROJECT_PER_DAY", 0, 1_000_000),
    wrongHalvesPerMinute: read.integer("MAX_WRONG_HALVES_PER_PROJECT_PER_MINUTE", 1, 1_000_000),
    rateLimits: readRateLimits(read),
    callerReads: {
      projectPerSecond: read.integer("FULLNODE_PROJECT_READS_PER_SECOND", 1, 1_000_000),
      totalPerSecond: read.integer("FULLNODE_CALLER_READS_PER_SECOND", 1, 1_000_000),
    },
    verifyThreads: read.integer("VERIFY_THREADS", 1, 64),
    submitBatchCount: read.integer("SUBMIT_BATCH_SIZE", 1, 50),
  };
  const { presignLowWaterCount: low, presignHighWaterCount: high } = network;
  if (low > high)
    read.fault("PRESIGN_POOL_LOW_WATER", String(low), `at most ${read.nameOf("PRESIGN_POOL_HIGH_WATER")}`);
  return Object.freeze(network);
}

function readHotWallet(read: ConfigReader<VariableName>, name: NetworkName): Secret | undefined {
  const configured = read.secretKey(HOT_WALLET);
  if (configured !== undefined || !read.needs(HOT_WALLET)) return configured;
  if (name === "localnet") return new Secret(bytesToHex(localnetHotWalletSecret()));
  read.fault(HOT_WALLET, undefined, `64 hex digits, on ${name}`);
  return new Secret("");
}

const HOT_WALLET = "HOT_WALLET_SUI_SECRET_HEX";
const GAS_STATION = {
  localnet: "GAS_STATION_LOCALNET_SECRET_HEX",
  testnet: "GAS_STATION_TESTNET_SECRET_HEX",
  mainnet: "GAS_STATION_MAINNET_SECRET_HEX",
} as const;

/** Keys that networks must not share, so that a leaked testnet key does not compromise mainnet. */
const OWN_KEYS = [HOT_WALLET, "BILLING_DEPOSIT_MASTER_SEED_HEX"] as const;

function refuseSharedKey(read: ConfigReader<VariableName>, name: (typeof OWN_KEYS)[number]): void {
  read.fault(name, "[redacted]", `${name}_<NETWORK> for each network instead, because networks share no key`);
}

/** Reads presign buckets, like `ED25519/EdDSA`. */
function readBuckets(read: ConfigReader<VariableName>, name: VariableName): CurveAlgorithm[] {
  return read.list(name).flatMap((item) => {
    const [curve, algorithmName = ""] = item.split("/");
    const algorithm = findSignatureAlgorithm(algorithmName);
    const found = CURVE_ALGORITHMS.find((c) => c.curve === curve && c.signatureAlgorithm === algorithm);
    if (found) return [found];
    const names = CURVE_ALGORITHMS.map((c) => `${c.curve}/${c.signatureAlgorithm}`).join(", ");
    const why = isUnsupportedAlgorithm(algorithmName) ? `, since ${algorithmName} is not supported` : "";
    read.fault(name, item, `one of ${names}${why}`);
    return [];
  });
}
