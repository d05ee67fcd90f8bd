/** A request that the transport itself refuses, before any handler. The message is public. */
export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly fault: TransportFault;
  readonly violations: readonly RequestViolation[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(fault: TransportFault, publicMessage: string, options: TransportErrorOptions = {}) {
    super(publicMessage, options.cause === undefined ? undefined : { cause: options.cause });
    this.fault = fault;
    this.violations = options.violations ?? [];
    this.headers = options.headers ?? {};
  }
}

/** An invalid part of the request. `field` is a path in proto names. */
export interface RequestViolation {
  readonly field: string;
  readonly description: string;
}

/** The faults that the transport itself reports. */
export type TransportFault =
  | "ROUTE_NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "UNIMPLEMENTED"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "NOT_ACCEPTABLE"
  | "RANGE_NOT_SATISFIABLE"
  | "VALIDATION"
  | "BODY_TOO_LARGE"
  | "MALFORMED_FRAME"
  | "DEADLINE"
  | "DRAINING";

/** Options of {@link TransportError}. */
export interface TransportErrorOptions {
  readonly violations?: readonly RequestViolation[];
  /** Additional headers of the reply. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** Creates a VALIDATION fault of one field. The message names it too. */
export function wrongField(field: string, description: string): TransportError {
  return new TransportError("VALIDATION", `${field}: ${description}`, {
    violations: [{ field, description }],
  });
}
