import { type DestinationStream, type Logger, pino, stdSerializers } from "pino";
import { createRedact } from "./redact.ts";
import type { Secret } from "./secret.ts";

/**
 * Creates a logger that writes one JSON object per line, with ISO times. It replaces the values of
 * {@link SECRET_FIELDS}; values of the type `Secret` print as `[redacted]`. It then removes anything that looks like a
 * secret from the finished line. Errors keep type, message, stack and cause.
 */
export function createLogger({ level, stream, secrets = [] }: LoggerOptions): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { cause: stdSerializers.errWithCause, error: stdSerializers.errWithCause },
    hooks: { streamWrite: createRedact(secrets) },
    redact: { paths: SECRET_FIELDS.flatMap(pathsOf), censor: "[redacted]" },
  };
  return stream === undefined ? pino(options) : pino(options, stream);
}

/** The names of fields with secret values, redacted up to three levels deep. */
const SECRET_FIELDS = [
  "authorization",
  "x-api-key",
  "apiKey",
  "adminApiKey",
  "key",
  "privateKey",
  "secret",
  "secretKey",
  "seed",
  "password",
  "userSecretKeyShare",
  "databaseUrl",
  "redisUrl",
] as const;

/** Options of {@link createLogger}. */
export interface LoggerOptions {
  /** trace, debug, info, warn, error or silent. */
  readonly level: string;
  /** Default: standard output. */
  readonly stream?: DestinationStream;
  /** The process's own secrets. The logger redacts their values in every line. Default: none. */
  readonly secrets?: readonly Secret[];
}

function pathsOf(name: string): string[] {
  const field = `["${name}"]`;
  return [field, `*${field}`, `*.*${field}`];
}
