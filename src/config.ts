import { ConfigReader, type ConfigVariable } from "./config-reader.ts";
import type { CurveAlgorithm } from "./protocol/algorithms.ts";
import type { Secret } from "./telemetry/secret.ts";

/** Every variable the service reads. Printed by `tss config`, mirrored by `.env.example`. */
export const CONFIG_VARIABLES = [
  { name: "HOST", default: "127.0.0.1", description: "Address to listen on" },
  {
    name: "PORT",
    default: "3000",
    description: "Port of gRPC, Connect, gRPC-web and REST; 0 takes a free one",
  },
  {
    name: "DATA_DIR",
    default: ".data",
    description: "Folder of the embedded database, the localnet and caches",
  },
  {
    name: "DATABASE_URL",
    description: "PostgreSQL; unset: PGlite in DATA_DIR, one process only",
    secret: true,
  },
  { name: "REDIS_URL", description: "Redis for wake-ups across replicas; unset: in-process", secret: true },
  { name: "ADMIN_API_KEY", description: "Key of the Admin calls, 32 characters or more", secret: true },
  {
    name: "NETWORKS",
    default: "localnet",
    description: "The network to serve: localnet, testnet or mainnet",
  },
  {
    name: "LOCALNET_PORT",
    default: "9000",
    description: "Port of the embedded localnet's fullnode; 0 takes a free one",
  },
  { name: "SUI_GRPC_URL_TESTNET", description: "Fullnode of testnet" },
  { name: "SUI_GRPC_URL_MAINNET", description: "Fullnode of mainnet" },
  { name: "SERVICECORE_TESTNET_PACKAGE_ID", description: "The Treasury's package on testnet" },
  { name: "SERVICECORE_TESTNET_TREASURY_ID", description: "The shared Treasury on testnet" },
  {
    name: "SERVICECORE_TESTNET_OPERATOR_CAP_IDS",
    description: "OperatorCaps of the hot wallet, comma-separated",
  },
  { name: "SERVICECORE_MAINNET_PACKAGE_ID", description: "The Treasury's package on mainnet" },
  { name: "SERVICECORE_MAINNET_TREASURY_ID", description: "The shared Treasury on mainnet" },
  {
    name: "SERVICECORE_MAINNET_OPERATOR_CAP_IDS",
    description: "OperatorCaps of the hot wallet, comma-separated",
  },
  { name: "HOT_WALLET_PROVIDER", default: "env", description: "Where the hot wallet's key comes from: env" },
  {
    name: "HOT_WALLET_SUI_SECRET_HEX",
    description:
      "The hot wallet's Ed25519 secret, 64 hex digits; unset on the localnet: its public development key",
    secret: true,
  },
  {
    name: "GAS_STATION_LOCALNET_SECRET_HEX",
    description: "Ed25519 secret of a key that pays for gas, 64 hex digits; unset: the hot wallet pays",
    secret: true,
  },
  { name: "GAS_STATION_TESTNET_SECRET_HEX", description: "The same on testnet", secret: true },
  { name: "GAS_STATION_MAINNET_SECRET_HEX", description: "The same on mainnet", secret: true },
  {
    name: "BILLING_PRICE_SIGN_MICRO_USD",
    default: "10000",
    description: "Price of one signature in micro-USD",
  },
  {
    name: "PRESIGN_BUCKETS",
    default: "",
    description:
      "Presign buckets to keep warm, like SECP256K1/Taproot,ED25519/EdDSA; empty: warmed on first use",
  },
  {
    name: "PRESIGN_POOL_LOW_WATER",
    description: "Refill below this many presigns; 20, or 2 on the localnet",
  },
  {
    name: "PRESIGN_POOL_HIGH_WATER",
    default: "100",
    description: "Never hold more presigns than this in a bucket",
  },
  { name: "PRESIGN_BATCH_SIZE", default: "20", description: "Presigns in one transaction, 1 to 32" },
  { name: "PRESIGN_RESERVATION_TTL_SECONDS", default: "300", description: "How long a reservation holds" },
  {
    name: "MAX_OPEN_RESERVATIONS_PER_PROJECT",
    default: "50",
    description: "Reservations that one project may have open",
  },
  {
    name: "MAX_DKGS_PER_PROJECT_PER_DAY",
    default: "200",
    description: "dWallets, and encryption keys, that one project may create in 24 hours",
  },
  {
    name: "MAX_REFUNDS_PER_PROJECT_PER_DAY",
    default: "20",
    description: "Signatures refunded to one project on one day (UTC) after the network rejected them",
  },
  { name: "SUBMIT_BATCH_SIZE", default: "10", description: "Signs in one transaction, 1 to 50" },
  { name: "LOG_LEVEL", default: "info", description: "trace, debug, info, warn, error or silent" },
  { name: "DRAIN_DELAY_MS", default: "0", description: "How long to answer as not ready before closing" },
  {
    name: "DRAIN_TIMEOUT_MS",
    default: "10000",
    description: "How long calls in flight may take when stopping",
  },
  { name: "CORS_ORIGINS", default: "*", description: "Origins that browsers may call from, comma-separated" },
] as const satisfies readonly ConfigVariable[];

type VariableName = (typeof CONFIG_VARIABLES)[number]["name"];

/** Where the chain is, and as whom the service acts there. */
export type NetworkConfig =
  | { readonly name: "localnet"; readonly port: number }
  | {
      readonly name: "testnet" | "mainnet";
      readonly fullnodeUrl: string;
      readonly treasury: {
        readonly packageId: string;
        readonly treasuryId: string;
        readonly operatorCapIds: readonly string[];
      };
    };

/** The effective configuration. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly dataDirectory: string;
  readonly databaseUrl: Secret | undefined;
  readonly redisUrl: Secret | undefined;
  readonly adminApiKey: Secret | undefined;
  readonly network: NetworkConfig;
  /** 64 hex digits. Undefined only on the localnet, which has a public development key. */
  readonly hotWalletSecretHex: Secret | undefined;
  /** 64 hex digits. Undefined where the hot wallet pays for gas. */
  readonly gasStationSecretHex: Secret | undefined;
  readonly priceSignMicroUsd: bigint;
  readonly presignBuckets: readonly CurveAlgorithm[];
  readonly presignLowWaterCount: number;
  readonly presignHighWaterCount: number;
  readonly presignBatchCount: number;
  readonly reservationTtlMs: number;
  readonly openReservationsMaxCount: number;
  readonly dkgsPerDay: number;
  readonly refundsPerDay: number;
  readonly submitBatchCount: number;
  readonly logLevel: string;
  readonly drainDelayMs: number;
  readonly drainTimeoutMs: number;
  readonly corsOrigins: readonly string[];
}

const GAS_STATION = {
  localnet: "GAS_STATION_LOCALNET_SECRET_HEX",
  testnet: "GAS_STATION_TESTNET_SECRET_HEX",
  mainnet: "GAS_STATION_MAINNET_SECRET_HEX",
} as const;

/** Reads the configuration from the environment. Throws a ConfigError naming every fault. */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const read = new ConfigReader(environment, CONFIG_VARIABLES);
  const network = readNetwork(read);
  const provider = read.text("HOT_WALLET_PROVIDER");
  if (provider !== "env") read.fault("HOT_WALLET_PROVIDER", provider, "env");
  const hotWalletSecretHex = read.secret("HOT_WALLET_SUI_SECRET_HEX", /^[0-9a-f]{64}$/i, "64 hex digits");
  if (network.name !== "localnet" && !hotWalletSecretHex) {
    read.fault("HOT_WALLET_SUI_SECRET_HEX", undefined, `64 hex digits, on ${network.name}`);
  }
  const config: Config = {
    host: read.text("HOST"),
    port: read.integer("PORT", 0, 65_535),
    dataDirectory: read.text("DATA_DIR"),
    databaseUrl: read.secret("DATABASE_URL", /^postgres(ql)?:\/\//, "postgresql://user@host:port/database"),
    redisUrl: read.secret("REDIS_URL", /^rediss?:\/\//, "redis://host:port"),
    adminApiKey: read.secret("ADMIN_API_KEY", /^\S{32,}$/, "32 characters or more, none of them white space"),
    network,
    hotWalletSecretHex,
    gasStationSecretHex: read.secret(GAS_STATION[network.name], /^[0-9a-f]{64}$/i, "64 hex digits"),
    priceSignMicroUsd: BigInt(read.integer("BILLING_PRICE_SIGN_MICRO_USD", 0, 1_000_000_000_000)),
    presignBuckets: read.buckets("PRESIGN_BUCKETS"),
    presignLowWaterCount: read.integer(
      "PRESIGN_POOL_LOW_WATER",
      0,
      10_000,
      network.name === "localnet" ? 2 : 20,
    ),
    presignHighWaterCount: read.integer("PRESIGN_POOL_HIGH_WATER", 1, 10_000),
    presignBatchCount: read.integer("PRESIGN_BATCH_SIZE", 1, 32),
    reservationTtlMs: 1000 * read.integer("PRESIGN_RESERVATION_TTL_SECONDS", 1, 86_400),
    openReservationsMaxCount: read.integer("MAX_OPEN_RESERVATIONS_PER_PROJECT", 1, 10_000),
    dkgsPerDay: read.integer("MAX_DKGS_PER_PROJECT_PER_DAY", 0, 1_000_000),
    refundsPerDay: read.integer("MAX_REFUNDS_PER_PROJECT_PER_DAY", 0, 1_000_000),
    submitBatchCount: read.integer("SUBMIT_BATCH_SIZE", 1, 50),
    logLevel: read.oneOf("LOG_LEVEL", ["trace", "debug", "info", "warn", "error", "silent"]),
    drainDelayMs: read.integer("DRAIN_DELAY_MS", 0, 600_000),
    drainTimeoutMs: read.integer("DRAIN_TIMEOUT_MS", 0, 600_000),
    corsOrigins: read.list("CORS_ORIGINS"),
  };
  if (config.presignLowWaterCount > config.presignHighWaterCount) {
    read.fault(
      "PRESIGN_POOL_LOW_WATER",
      String(config.presignLowWaterCount),
      "at most PRESIGN_POOL_HIGH_WATER",
    );
  }
  read.done();
  return Object.freeze(config);
}

/** The table with its effective values, secrets redacted, for `tss config`. */
export function describeConfig(environment: NodeJS.ProcessEnv = process.env): string {
  const rows = CONFIG_VARIABLES.map((variable: ConfigVariable) => {
    const set = environment[variable.name] ?? environment[`${variable.name}_FILE`];
    const value = set === undefined ? (variable.default ?? "") : variable.secret ? "[redacted]" : set;
    return [variable.name, value || "(unset)", variable.description] as const;
  });
  const width = (column: 0 | 1): number => Math.max(...rows.map((row) => row[column].length));
  return rows.map(([n, v, d]) => `${n.padEnd(width(0))}  ${v.padEnd(width(1))}  ${d}`).join("\n");
}

function readNetwork(read: ConfigReader<VariableName>): NetworkConfig {
  const name = read.oneOf("NETWORKS", ["localnet", "testnet", "mainnet"]);
  if (name === "localnet") {
    return { name, port: read.integer("LOCALNET_PORT", 0, 65_535) };
  }
  const network = name === "testnet" ? "testnet" : "mainnet";
  const upper = network === "testnet" ? "TESTNET" : "MAINNET";
  const id = (variable: VariableName): string =>
    read.required(variable, /^0x[0-9a-f]{64}$/, "0x and 64 hex digits");
  const fullnodeUrl = read.url(`SUI_GRPC_URL_${upper}`);
  if (!fullnodeUrl) read.fault(`SUI_GRPC_URL_${upper}`, undefined, "an http(s) URL");
  return {
    name: network,
    fullnodeUrl: fullnodeUrl ?? "",
    treasury: {
      packageId: id(`SERVICECORE_${upper}_PACKAGE_ID`),
      treasuryId: id(`SERVICECORE_${upper}_TREASURY_ID`),
      operatorCapIds: read
        .required(
          `SERVICECORE_${upper}_OPERATOR_CAP_IDS`,
          /^(0x[0-9a-f]{64},?)+$/,
          "object ids, comma-separated",
        )
        .split(",")
        .filter(Boolean),
    },
  };
}
