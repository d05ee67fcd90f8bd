import type { CostClassName } from "../access/method-policy.ts";
import type { RateLimits } from "../access/rate-limiter.ts";
import type { ConfigReader } from "./reader.ts";
import type { VariableName } from "./variables.ts";

/** Reads the limits of callers. */
export function readLimits(read: ConfigReader<VariableName>): LimitsConfig {
  const { perSecond, burstSeconds } = readRateLimits(read);
  return {
    rateLimits: {
      perSecond: {
        ...perSecond,
        refusedKey: read.integer("RATE_LIMIT_REFUSED_KEY_PER_SECOND", 0, MAX_PER_SECOND),
        open: read.integer("RATE_LIMIT_OPEN_PER_SECOND", 0, MAX_PER_SECOND),
      },
      burstSeconds,
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
