import { Code } from "@connectrpc/connect";
import type { TssError } from "../client/sdk/index.ts";
import { ERROR_CATALOGUE, type ErrorKind } from "../service/platform/errors/catalogue.ts";
import type { FieldViolation } from "../service/platform/errors/service-error.ts";
import type { Redact } from "../service/platform/telemetry/redact.ts";

/** The reasons that only a signer has, and their codes. It also passes on the reasons of the SDK and of the service. */
const SIGNER_REASONS = {
  MISSING_TOKEN: Code.Unauthenticated,
  INVALID_TOKEN: Code.Unauthenticated,
  UNKNOWN_CALLER: Code.Unauthenticated,
  CALLER_NOT_ALLOWED: Code.PermissionDenied,
  CALLER_RATE_EXCEEDED: Code.ResourceExhausted,
  KEY_NOT_FOUND: Code.NotFound,
  KEY_NOT_ACTIVE: Code.FailedPrecondition,
  KEY_CURVE_DIFFERS: Code.AlreadyExists,
  KEY_USER_DIFFERS: Code.AlreadyExists,
  TOO_MANY_KEYS: Code.ResourceExhausted,
  SIGNER_BUSY: Code.ResourceExhausted,
  STORE_UNAVAILABLE: Code.Unavailable,
  EVM_UNAVAILABLE: Code.Unimplemented,
  SOLANA_UNAVAILABLE: Code.Unimplemented,
  BITCOIN_UNAVAILABLE: Code.Unimplemented,
} as const satisfies Record<string, Code>;

/** A failure of a call. The caller gets the message, which must contain no secret. */
export class SignerError extends Error {
  override readonly name = "SignerError";
  readonly reason: string;
  readonly code: Code;
  readonly metadata: Readonly<Record<string, string>>;
  readonly violations: readonly FieldViolation[];
  readonly retryAfterSeconds: number | undefined;

  constructor(
    reason: keyof typeof SIGNER_REASONS | "VALIDATION" | "UNSUPPORTED_ALGORITHM",
    message: string,
    options?: SignerErrorOptions,
  );
  constructor(reason: string, message: string, options: SignerErrorOptions & { readonly code: Code });
  constructor(reason: string, message: string, options: SignerErrorOptions & { readonly code?: Code } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.code = options.code ?? ownCode(reason) ?? Code.InvalidArgument;
    this.metadata = options.metadata ?? {};
    this.violations = options.violations ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Optional parts of a {@link SignerError}. */
interface SignerErrorOptions {
  readonly metadata?: Readonly<Record<string, string>>;
  readonly violations?: readonly FieldViolation[];
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/** A VALIDATION error about one field, or another error of the caller's input. */
export function wrongField(
  field: string,
  description: string,
  reason: "VALIDATION" | "UNSUPPORTED_ALGORITHM" = "VALIDATION",
): SignerError {
  return new SignerError(reason, `${field}: ${description}`, { violations: [{ field, description }] });
}

/**
 * Converts an error of the SDK. A service or fullnode may have chosen its texts, so `redact` removes the signer's own
 * secrets from them.
 */
export function fromTssError(error: TssError, redact: Redact): SignerError {
  const metadata = Object.fromEntries(
    Object.entries(error.metadata).map(([name, value]) => [redact(name), redact(value)]),
  );
  return new SignerError(redact(error.reason), redact(error.message), {
    code: codeOf(error.reason),
    metadata,
    retryAfterSeconds: error.retryAfterMs === undefined ? undefined : error.retryAfterMs / 1000,
    cause: error,
  });
}

function ownCode(reason: string): Code | undefined {
  return Object.hasOwn(SIGNER_REASONS, reason)
    ? SIGNER_REASONS[reason as keyof typeof SIGNER_REASONS]
    : undefined;
}

function codeOf(reason: string): Code {
  const known = LOCAL_CODES.get(reason);
  if (known !== undefined) return known;
  const kinds: Readonly<Record<string, ErrorKind>> = ERROR_CATALOGUE;
  const code = Object.hasOwn(kinds, reason) ? kinds[reason]?.code : undefined;
  // The service refuses the signer's key, and the caller's own credentials are right.
  const isOfSigner = code === Code.Unauthenticated || code === Code.PermissionDenied;
  return code === undefined || isOfSigner ? Code.FailedPrecondition : code;
}

/** The codes of the SDK's own reasons. The others mean that something does not match, so that a retry does not help. */
const LOCAL_CODES: ReadonlyMap<string, Code> = new Map([
  ["TIMEOUT", Code.DeadlineExceeded],
  ["ABORTED", Code.Unavailable],
  ["UNREACHABLE", Code.Unavailable],
  ["WRONG_URL", Code.Unavailable],
  ["CHAIN_UNAVAILABLE", Code.Unavailable],
  ["FULLNODES_DISAGREE", Code.Unavailable],
  ["CODE_UNAVAILABLE", Code.Unavailable],
  ["CRYPTO_FAILED", Code.Internal],
  ["INTERNAL", Code.Internal],
]);
