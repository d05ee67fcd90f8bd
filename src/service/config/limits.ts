import type { CostClassName } from "../access/method-policy.ts";
import type { RateLimits } from "../access/rate-limiter.ts";
import type { TracingConfig } from "../platform/telemetry/otlp/otlp-tracing.ts";
import type { ConfigReader } from "./reader.ts";
import type { VariableName } from "./variables.ts";

/** Reads the limits of callers. */
export function readLimits(read: ConfigReader<VariableName>): LimitsConfig {
  const { perSecond, ...shared } = readRateLimits(read);
  return {
    rateLimits: {
      ...shared,
      perSecond: {
        ...perSecond,
        refusedKey: read.integer("RATE_LIMIT_REFUSED_KEY_PER_SECOND", 0, MAX_PER_SECOND),
        open: read.integer("RATE_LIMIT_OPEN_PER_SECOND", 0, MAX_PER_SECOND),
      },
    },
    connections: {
      maxCount: read.integer("MAX_CONNECTIONS", 0, 1_000_000),
      maxPerAddressCount: read.integer("MAX_CONNECTIONS_PER_ADDRESS", 0, 1_000_000),
    },
    streams: {
      perKey: read.integer("MAX_STREAMS_PER_KEY", 1, 100_000),
      perProject: read.integer("MAX_STREAMS_PER_PROJECT", 1, 100_000),
      perAddress: read.integer("MAX_STREAMS_PER_ADDRESS", 1, 100_000),
    },
  };
}

/** Reads the limits of the cost classes: those of one network's keys if `read` is the reader for that network. */
export function readRateLimits(read: ConfigReader<VariableName>): RateLimits<CostClassName> {
  const perSecond = (name: VariableName) => read.integer(name, 0, MAX_PER_SECOND);
  return {
    perSecond: {
      read: perSecond("RATE_LIMIT_READ_PER_SECOND"),
      write: perSecond("RATE_LIMIT_WRITE_PER_SECOND"),
      chain: perSecond("RATE_LIMIT_CHAIN_PER_SECOND"),
      verify: perSecond("RATE_LIMIT_VERIFY_PER_SECOND"),
      stream: perSecond("RATE_LIMIT_STREAM_PER_SECOND"),
    },
    burstSeconds: read.integer("RATE_LIMIT_BURST_SECONDS", 1, 3_600),
    sessionsFactor: read.integer("RATE_LIMIT_SESSIONS_FACTOR", 0, 10_000),
  };
}

/** The limits of callers. */
export interface LimitsConfig {
  /** The limits of calls without a project's key. */
  readonly rateLimits: RateLimits;
  /** The maximum numbers of open connections per port, in total and per address; 0 for no limit. */
  readonly connections: { readonly maxCount: number; readonly maxPerAddressCount: number };
  /** The maximum numbers of open streams in this process. */
  readonly streams: { readonly perKey: number; readonly perProject: number; readonly perAddress: number };
}

const MAX_PER_SECOND = 1_000_000;

/**
 * Reads the settings of tracing from OpenTelemetry's own variables (opentelemetry.io, SDK configuration). Undefined if
 * tracing is off.
 */
export function readTracing(read: ConfigReader<VariableName>): TracingConfig | undefined {
  const endpoint = read.secretUrl("OTEL_EXPORTER_OTLP_ENDPOINT", /^https?:\/\//, "an http(s) URL");
  const headers = read.secret("OTEL_EXPORTER_OTLP_HEADERS", HEADERS, "name=value,name=value");
  const sampler = read.oneOf("OTEL_TRACES_SAMPLER", [
    ...SAMPLERS,
    ...SAMPLERS.map((name) => `parentbased_${name}`),
  ]);
  const share = read.share("OTEL_TRACES_SAMPLER_ARG");
  if (endpoint === undefined) return undefined;
  return {
    endpoint,
    headers,
    serviceName: read.text("OTEL_SERVICE_NAME"),
    sampledShare: sampler.endsWith("always_on") ? 1 : sampler.endsWith("always_off") ? 0 : share,
    followsCaller: sampler.startsWith("parentbased_"),
  };
}

const SAMPLERS = ["always_on", "always_off", "traceidratio"];
const HEADERS = /^[\w.-]+ *=(?:%[0-9a-f]{2}|[^,%])*(?:, *[\w.-]+ *=(?:%[0-9a-f]{2}|[^,%])*)*$/i;

/** Reads the limits of the database. */
export function readDatabaseConfig(read: ConfigReader<VariableName>): DatabaseConfig {
  return {
    poolSizeCount: read.integer("DATABASE_POOL_SIZE", 2, 500),
    pooler: read.oneOf("DATABASE_POOLER", ["auto", "none", "transaction"]),
    statementTimeoutMs: read.integer("DATABASE_STATEMENT_TIMEOUT_MS", 1_000, 600_000),
    migrationLockWaitMs: 1_000 * read.integer("MIGRATION_LOCK_WAIT_SECONDS", 1, 86_400),
  };
}

/** The limits of the database. */
export interface DatabaseConfig {
  /** The size of a connection pool. A process that serves several networks has one pool per network, and one more. */
  readonly poolSizeCount: number;
  /** What a pooler before the server does; `auto` looks for one. */
  readonly pooler: "auto" | "none" | "transaction";
  /** The time after which the server ends a statement of a call or a worker. */
  readonly statementTimeoutMs: number;
  /** The total wait of migrations for locks at one start. */
  readonly migrationLockWaitMs: number;
}
