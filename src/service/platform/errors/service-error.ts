import type { ErrorReason } from "./catalogue.ts";

/**
 * The only class for expected failures. `message` is public: the caller receives it unchanged, so it must contain no
 * secrets or internals. The error interceptor converts it to a ConnectError.
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly reason: ErrorReason;
  readonly metadata: Readonly<Record<string, string>>;
  readonly violations: readonly FieldViolation[];
  readonly detail: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(reason: ErrorReason, publicMessage: string, options: ServiceErrorOptions = {}) {
    super(publicMessage, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.metadata = options.metadata ?? {};
    this.violations = options.violations ?? [];
    this.detail = options.detail;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.headers = options.headers ?? {};
  }
}

/** An invalid field for the BadRequest detail. `field` is a path in proto names. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** Optional parts of a {@link ServiceError}. */
export interface ServiceErrorOptions {
  /** Public machine-readable facts, such as ids and limits. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly violations?: readonly FieldViolation[];
  /** Internal text for the log. Never sent. */
  readonly detail?: string;
  readonly cause?: unknown;
  /** Overrides the catalogue's retry hint. */
  readonly retryAfterSeconds?: number;
  /** Additional headers of the reply. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A VALIDATION error about one field. */
export function invalidField(field: string, description: string): ServiceError {
  return new ServiceError("VALIDATION", `${field}: ${description}`, { violations: [{ field, description }] });
}
