import { type DestinationStream, type Logger, pino, stdSerializers } from "pino";
import { createRedact } from "./redact.ts";
import type { Secret } from "./secret.ts";

/** Names of fields whose values are secrets at any place, up to three levels deep. */
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
  /** The process's own secrets, whose values are looked for in each line. Default: none. */
  readonly secrets?: readonly Secret[];
}

/**
 * A logger of one JSON object per line with ISO times. Values of {@link SECRET_FIELDS} are replaced; values of the type
 * `Secret` print as `[redacted]` by themselves; and what still looks like a secret in the finished line is taken out of
 * it, wherever it stands. Errors keep type, message, stack and cause.
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

function pathsOf(name: string): string[] {
  const field = `["${name}"]`;
  return [field, `*${field}`, `*.*${field}`];
}
