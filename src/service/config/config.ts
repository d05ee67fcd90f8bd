import { networkTraits } from "../../protocol/chain/network-traits.ts";
import { parseRedisUrl, REDIS_URL_FORMS } from "../platform/coordination/redis-address.ts";
import type { TracingConfig } from "../platform/telemetry/otlp/otlp-tracing.ts";
import { Secret } from "../platform/telemetry/secret.ts";
import { checkBind, checkSecrets, checkShared, isPublic, unknownVariables } from "./checks.ts";
import { type ClientConfig, readClientConfig, readTreasuryConfig, type TreasuryConfig } from "./client.ts";
import {
  type DatabaseConfig,
  type LimitsConfig,
  readDatabaseConfig,
  readLimits,
  readTracing,
} from "./limits.ts";
import type { NetworkName } from "./network.ts";
import { type NetworkConfig, readNetworks } from "./networks.ts";
import { ConfigReader } from "./reader.ts";
import { readSignerConfig, type SignerConfig } from "./signer.ts";
import { ConfigError, type Setting } from "./variables/config-variable.ts";
import { CONFIG_VARIABLES, type VariableName } from "./variables.ts";

/** The effective configuration. */
export interface Config extends LimitsConfig {
  readonly host: string;
  readonly port: number;
  /** A port that serves metrics to anyone; undefined for none. */
  readonly metricsPort: number | undefined;
  /** True if {@link Config.port} serves metrics to anyone instead of only to an admin key. */
  readonly isMetricsPublic: boolean;
  /** True if {@link Config.port} serves the web console. */
  readonly hasConsole: boolean;
  readonly servesParameters: boolean;
  readonly processType: (typeof PROCESS_TYPES)[number];
  readonly dataDirectory: string;
  readonly databaseUrl: Secret | undefined;
  readonly database: DatabaseConfig;
  readonly redisUrl: Secret | undefined;
  /** Undefined in a worker too. */
  readonly adminApiKey: Secret | undefined;
  /** 64 hex digits. Undefined in an api process too. */
  readonly auditSealSecretHex: Secret | undefined;
  /** The served networks, in the order of `NETWORKS`. */
  readonly networks: readonly [NetworkConfig, ...NetworkConfig[]];
  /** The number of days after which the large columns of ended rows are emptied; 0 means never. */
  readonly retentionDays: number;
  /** Addresses and CIDR blocks. */
  readonly trustedProxies: readonly string[];
  readonly logLevel: string;
  readonly drainDelayMs: number;
  readonly drainTimeoutMs: number;
  readonly corsOrigins: readonly string[];
  /** The URLs at which callers reach the service, each with the path that a proxy removes. Empty if unknown. */
  readonly publicUrls: readonly string[];
  /** True if the keys of identity providers may be at http and at addresses that are not public. */
  readonly allowsPrivateIdentity: boolean;
  /** 64 hex digits. Undefined if the service sends no webhooks. */
  readonly webhookSecretHex: Secret | undefined;
  /** True if webhooks may go to http and to addresses that are not public. */
  readonly allowsPrivateWebhooks: boolean;
  /** Undefined for clear text, because a proxy normally terminates TLS. */
  readonly tls: { readonly certificateFile: string; readonly keyFile: string } | undefined;
  /** Undefined if tracing is off. */
  readonly tracing: TracingConfig | undefined;
}

/** The role of a process of the service. */
const PROCESS_TYPES = ["api", "worker", "all"] as const;

/** The configuration from the environment, with its faults. */
export interface ConfigReading {
  /** Invalid if there are faults. */
  readonly config: Config;
  readonly faults: readonly string[];
  /** Warnings about allowed settings. */
  readonly warnings: readonly string[];
  readonly settings: readonly Setting[];
  readonly secrets: readonly Secret[];
}

/** The quick start, which serves one developer, needs no key for its metrics. */
function isMetricsPublic(read: ConfigReader<VariableName>, [first]: Config["networks"]): boolean {
  if (read.optional("METRICS_PUBLIC") !== undefined) return read.boolean("METRICS_PUBLIC");
  return read.optional("DATABASE_URL") === undefined && networkTraits(first.name).isDevelopment;
}

/** The quick start may have an identity provider, or a receiver of webhooks, on the same machine. */
function allowsPrivate(
  name: "IDENTITY_PRIVATE_ADDRESSES" | "WEBHOOK_PRIVATE_ADDRESSES",
  read: ConfigReader<VariableName>,
  networks: Config["networks"],
): boolean {
  return read.optional(name) === undefined ? isQuickStart(read, networks) : read.boolean(name);
}

function isQuickStart(read: ConfigReader<VariableName>, [first]: Config["networks"]): boolean {
  return read.optional("DATABASE_URL") === undefined && networkTraits(first.name).isDevelopment;
}

/** Known to everyone: it protects nothing but the quick start's own webhooks. */
const DEVELOPMENT_WEBHOOK_SECRET_HEX = "77".repeat(32);

/** Reads the configuration from the environment. Throws a ConfigError that names every fault. */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  return acceptConfig(readConfig(environment));
}

/** Returns the configuration of a reading. Throws a ConfigError that names every fault. */
export function acceptConfig({ config, faults }: ConfigReading): Config {
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

/**
 * Reads the configuration from the environment, with its faults and warnings. @param given variables that override the
 * environment
 */
export function readConfig(
  environment: NodeJS.ProcessEnv = process.env,
  given: Readonly<Partial<Record<VariableName, string>>> = {},
): ConfigReading {
  const all = { ...environment, ...given };
  const read = new ConfigReader<VariableName>(all, CONFIG_VARIABLES, all.PROCESS_TYPE?.trim());
  const networks = readNetworks(read);
  const config: Config = {
    host: read.text("HOST"),
    port: read.integer("PORT", 0, 65_535),
    metricsPort:
      read.optional("METRICS_PORT") === undefined ? undefined : read.integer("METRICS_PORT", 0, 65_535),
    isMetricsPublic: isMetricsPublic(read, networks),
    hasConsole: read.oneOf("CONSOLE", ["on", "off"]) === "on",
    servesParameters: read.oneOf("PROTOCOL_PARAMETERS", ["on", "off"]) === "on",
    processType: read.oneOf("PROCESS_TYPE", PROCESS_TYPES),
    dataDirectory: read.text("DATA_DIR"),
    databaseUrl: read.secretUrl(
      "DATABASE_URL",
      /^postgres(ql)?:\/\//,
      "postgresql://user@host:port/database",
    ),
    database: readDatabaseConfig(read),
    redisUrl: read.secretUrl(
      "REDIS_URL",
      /^rediss?[:+]/,
      REDIS_URL_FORMS,
      (url) => parseRedisUrl(url) !== undefined,
    ),
    adminApiKey: read.secret("ADMIN_API_KEY", /^\S{32,}$/, "32 characters or more, without white space"),
    auditSealSecretHex: read.secretKey("AUDIT_SEAL_SECRET_HEX"),
    networks,
    retentionDays: read.integer("RETENTION_DAYS", 0, 36_500),
    ...readLimits(read),
    trustedProxies: read.addressBlocks("TRUSTED_PROXIES"),
    logLevel: read.oneOf("LOG_LEVEL", ["trace", "debug", "info", "warn", "error", "silent"]),
    drainDelayMs: read.integer("DRAIN_DELAY_MS", 0, 600_000),
    drainTimeoutMs: read.integer("DRAIN_TIMEOUT_MS", 0, 600_000),
    corsOrigins: read.list("CORS_ORIGINS"),
    publicUrls: read.publicUrls("PUBLIC_URLS"),
    allowsPrivateIdentity: allowsPrivate("IDENTITY_PRIVATE_ADDRESSES", read, networks),
    webhookSecretHex:
      read.secretKey("WEBHOOK_SECRET_HEX") ??
      (isQuickStart(read, networks) ? new Secret(DEVELOPMENT_WEBHOOK_SECRET_HEX) : undefined),
    allowsPrivateWebhooks: allowsPrivate("WEBHOOK_PRIVATE_ADDRESSES", read, networks),
    tls: readTls(read),
    tracing: readTracing(read),
  };
  checkShared(read, config);
  const isPlaintextAllowed = read.boolean("ALLOW_PUBLIC_PLAINTEXT");
  checkBind(read, config, isPlaintextAllowed);
  checkSecrets(read, networks);
  const warnings = unknownVariables(environment, CONFIG_VARIABLES);
  for (const name of read.useless) {
    warnings.push(
      `${name} is set, and a process with PROCESS_TYPE=${config.processType} does not need that secret and ignores it: remove it here`,
    );
  }
  if (isPlaintextAllowed && isPublic(config.host) && config.tls === undefined) {
    warnings.push(
      `keys are sent in clear text to ${config.host}:${config.port} unless a proxy terminates TLS`,
    );
  }
  const valued = networks.map(({ name }) => name).filter((name) => name !== "localnet");
  if (valued.length > 0 && config.corsOrigins.includes("*")) {
    warnings.push(`CORS_ORIGINS allows every web site to call this service on ${valued.join(" and ")}`);
  }
  return {
    config: Object.freeze(config),
    faults: read.faults,
    warnings,
    settings: read.settings(),
    secrets: [...read.secrets.values()],
  };
}

/** Returns the settings that the command `tss` needs to call a service. Throws a ConfigError that names every fault. */
export function loadClientConfig(environment: NodeJS.ProcessEnv = process.env): ClientConfig {
  return readClientConfig(environment);
}

/** Returns the settings that the administration of a Treasury needs. Throws a ConfigError that names every fault. */
export function loadTreasuryConfig(
  network: NetworkName | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): TreasuryConfig {
  return readTreasuryConfig(environment, network);
}

/**
 * Returns the settings of `tss signer`. Throws a ConfigError that names every fault. It deletes the variable with the
 * master seed, so that neither a thread nor a child process inherits it.
 */
export function loadSignerConfig(environment: NodeJS.ProcessEnv = process.env): SignerConfig {
  try {
    return readSignerConfig(environment);
  } finally {
    delete environment["SIGNER_MASTER_SEED_HEX"];
  }
}

function readTls(read: ConfigReader<VariableName>): Config["tls"] {
  const certificateFile = read.file("TLS_CERT_FILE");
  const keyFile = read.file("TLS_KEY_FILE");
  if (certificateFile && keyFile) return { certificateFile, keyFile };
  if (certificateFile) read.fault("TLS_KEY_FILE", undefined, "a file, in addition to TLS_CERT_FILE");
  if (keyFile) read.fault("TLS_CERT_FILE", undefined, "a file, in addition to TLS_KEY_FILE");
  return undefined;
}
