import { type DestinationStream, destination, type Logger, pino, stdSerializers } from "pino";
import { createRedact } from "./redact.ts";
import type { Secret } from "./secret.ts";

/** The log for operators. A pino logger implements it. Each part requires only the levels that it uses. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

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
interface LoggerOptions {
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

/**
 * Opens standard error as a destination for logs and writes it off the event loop. Node itself writes standard error
 * synchronously if it is a file, so each line would wait for the disk. Buffered lines are flushed when the process
 * exits.
 */
export function openLogStream(): DestinationStream {
  const stream = destination({ dest: STANDARD_ERROR, sync: false });
  process.once("exit", () => stream.flushSync());
  return stream;
}

const STANDARD_ERROR = 2;
