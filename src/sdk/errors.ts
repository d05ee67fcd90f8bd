import { Code, type ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema, RetryInfoSchema } from "../../gen/proto/google/rpc/error_details_pb.ts";

/** Reasons that this client gives by itself. The service's own are in its `docs/errors.md`. */
export type LocalReason =
  /** An argument is missing or malformed. The service answers with the same reason. */
  | "VALIDATION"
  /** Curve, signature algorithm and hash are not a combination that the network signs with. */
  | "UNSUPPORTED_ALGORITHM"
  /** The message is longer than 16,381 bytes. */
  | "MESSAGE_TOO_LARGE"
  /** The dWallet is not Active. */
  | "DWALLET_NOT_ACTIVE"
  /** The chain has no dWallet with this id. */
  | "DWALLET_NOT_FOUND"
  /** A request is in a state that allows no such step. */
  | "WRONG_STATE"
  /** The time was up. What was begun goes on; `metadata` has the ids to pick it up again. */
  | "TIMEOUT"
  /** The caller's signal aborted. What was begun goes on. */
  | "ABORTED"
  /** The service does not answer. */
  | "UNREACHABLE"
  /** The fullnode does not answer. */
  | "CHAIN_UNAVAILABLE"
  /** The service serves another network, or its ids are not those of the network. */
  | "NETWORK_MISMATCH"
  /** Parameters do not have the digest that was announced, or the chain names another network key. */
  | "PARAMETERS_MISMATCH"
  /** The user's share does not fit the dWallet's public output. */
  | "SHARE_MISMATCH"
  /** The service's public output, or the network's, is not the one that the user's half implies. */
  | "OUTPUT_MISMATCH"
  /** The network refused what was sent; `metadata.state` has its word. */
  | "NETWORK_REJECTED"
  /** The signature that came back does not verify. */
  | "SIGNATURE_INVALID"
  /** The user's half could not be computed. */
  | "CRYPTO_FAILED";

/** A reason for machines: this client's own or the service's. */
export type TssErrorReason = LocalReason | (string & {});

/** What a {@link TssError} may carry. */
export interface TssErrorOptions {
  readonly requestId?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** The one error of this client. Neither message nor metadata ever hold a seed, a share or an API key. */
export class TssError extends Error {
  override readonly name = "TssError";
  /** What went wrong, for machines. */
  readonly reason: TssErrorReason;
  /** The service's id of the request, to give to its operator. */
  readonly requestId: string | undefined;
  /** Ids and limits; after a time-out what to resume with: `signRequestId`, `idempotencyKey`, `dwalletId`, `stage`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** When trying again may help. */
  readonly retryAfterMs: number | undefined;

  constructor(reason: TssErrorReason, message: string, options: TssErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.requestId = options.requestId;
    this.metadata = options.metadata ?? {};
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The service's error as this client's: reason and metadata from ErrorInfo, the hint from RetryInfo. */
export function fromConnectError(error: ConnectError): TssError {
  const info = error.findDetails(ErrorInfoSchema).find((detail) => detail.domain === "tss");
  return new TssError(info?.reason ?? reasonOfCode(error), error.rawMessage, {
    // An answer that is none of Connect's may have the header twice here: from its head and its end.
    requestId: error.metadata.get("x-request-id")?.split(", ")[0],
    metadata: info?.metadata ?? {},
    retryAfterMs: retryAfterMs(error),
    cause: error,
  });
}

/** The same error with more metadata; what it has already stays. */
export function withMetadata(error: TssError, metadata: Readonly<Record<string, string>>): TssError {
  const { reason, message, requestId, retryAfterMs } = error;
  return new TssError(reason, message, {
    requestId,
    metadata: { ...metadata, ...error.metadata },
    retryAfterMs,
    cause: error.cause,
  });
}

/** True when the service was not reached, or somebody on the way answered for it. */
export function isTransportFailure(error: ConnectError): boolean {
  if (error.findDetails(ErrorInfoSchema).length > 0) return false;
  // fetch reports a connection that broke or was refused as a TypeError, which Connect wraps as Unknown.
  if (error.code === Code.Unknown) return error.cause instanceof TypeError;
  return error.code === Code.Unavailable || error.code === Code.DeadlineExceeded;
}

function retryAfterMs(error: ConnectError): number | undefined {
  const delay = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
  if (delay !== undefined) return Number(delay.seconds) * 1000 + Math.ceil(delay.nanos / 1e6);
  const seconds = Number(error.metadata.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

/** For answers without ErrorInfo, such as a proxy's: the code's name in the contract's spelling. */
function reasonOfCode(error: ConnectError): string {
  if (isTransportFailure(error)) return "UNREACHABLE";
  if (error.code === Code.InvalidArgument) return "VALIDATION";
  return Code[error.code].replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase();
}
