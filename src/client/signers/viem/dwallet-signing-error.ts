import { BaseError } from "viem";
import { TssError, type TssErrorReason } from "../../sdk/index.ts";

/**
 * A failure of a dWallet's account. viem wraps errors from accounts, so find this one with {@link findSigningError}.
 * `cause` is the client's {@link TssError}.
 */
export class DWalletSigningError extends BaseError {
  override readonly name = "DWalletSigningError";
  /** The machine-readable reason of the TssError. */
  readonly reason: TssErrorReason;
  /** The service's request id, for a report to its operator. */
  readonly requestId: string | undefined;
  /** Ids and limits; after a time-out, the ids to resume with. For a malformed argument, `field` names it. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The delay in milliseconds after which a retry may succeed; undefined when a retry cannot help. */
  readonly retryAfterMs: number | undefined;
  /** The argument of `client.resume`, set when the signature may still succeed. */
  readonly resumeToken: string | undefined;

  constructor(cause: TssError) {
    super(`The dWallet did not sign (${cause.reason}).`, { cause });
    this.reason = cause.reason;
    this.requestId = cause.requestId;
    this.metadata = cause.metadata;
    this.retryAfterMs = cause.retryAfterMs;
    this.resumeToken = cause.resumeToken;
  }
}

/**
 * Finds the failure of a dWallet's account inside an error from viem, or returns undefined.
 *
 * @example
 * const failure = findSigningError(error);
 * if (failure?.reason === "INSUFFICIENT_CREDIT") await addCredit();
 */
export function findSigningError(error: unknown): DWalletSigningError | undefined {
  if (!(error instanceof BaseError)) return undefined;
  const found = error.walk((inner) => inner instanceof DWalletSigningError);
  return found instanceof DWalletSigningError ? found : undefined;
}

/** Wraps a TssError in the form that viem's callers expect. Returns other errors unchanged. */
export function toViemError(error: unknown): unknown {
  return error instanceof TssError ? new DWalletSigningError(error) : error;
}
