import { BaseError } from "viem";
import { TssError, type TssErrorReason } from "../../sdk/index.ts";

/**
 * A failure of a dWallet's account. viem wraps what an account throws, so look for this with
 * {@link findSigningError}. `cause` is the client's {@link TssError}.
 */
export class DWalletSigningError extends BaseError {
  override readonly name = "DWalletSigningError";
  /** What went wrong, for machines: the reason of the TssError. */
  readonly reason: TssErrorReason;
  /** The service's id of the request, to give to its operator. */
  readonly requestId: string | undefined;
  /** Ids and limits; after a time-out what to resume with. For a malformed argument, `field` names it. */
  readonly metadata: Readonly<Record<string, string>>;
  /** When trying again may help. */
  readonly retryAfterMs: number | undefined;
  /** What `client.resume` goes on with, where the signature may still be made. */
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
 * The failure of a dWallet's account inside an error that viem threw, or undefined.
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

/** What the client throws, in the form that viem's callers expect. */
export function toViemError(error: unknown): unknown {
  return error instanceof TssError ? new DWalletSigningError(error) : error;
}
