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
  /** A fullnode does not answer; `metadata.fullnode` is its place in the list, from 1. */
  | "CHAIN_UNAVAILABLE"
  /** Fullnodes go on giving different answers; `metadata` has `objectId` and the `fullnode` that differs from the first. */
  | "FULLNODES_DISAGREE"
  /** The service or a fullnode serves another network or chain, or names other ids than the network has. */
  | "NETWORK_MISMATCH"
  /** The chain has a form of Ika's objects, or a version of the network's key, that this client cannot read. */
  | "NETWORK_UNSUPPORTED"
  /** An object on the chain is of another type than what was asked for: `metadata.objectId`. */
  | "OBJECT_MISMATCH"
  /** The network encryption key is none of the network's, not for this curve, or has no output that makes sense. */
  | "PARAMETERS_MISMATCH"
  /** The user's share does not fit the dWallet's public output. */
  | "SHARE_MISMATCH"
  /** The dWallet's share is not derived from the seed: somebody else may know it, or an older version made it. */
  | "SHARE_UNVERIFIED"
  /** The service's public output, or the network's, is not the one that the user's half implies. */
  | "OUTPUT_MISMATCH"
  /** The presign is not the one on the chain, or this client has used it for another message. */
  | "PRESIGN_MISMATCH"
  /** The network refused what was sent; `metadata.state` has its word. */
  | "NETWORK_REJECTED"
  /** The signature that came back does not verify. */
  | "SIGNATURE_INVALID"
  /** Several signatures together would cost more than the caller allows: `metadata.priceMicroUsd`. */
  | "PRICE_ABOVE_LIMIT"
  /** The user's half could not be computed. */
  | "CRYPTO_FAILED";

/** A reason for machines: this client's own or the service's. */
export type TssErrorReason = LocalReason | (string & {});

/** What a {@link TssError} may carry. */
export interface TssErrorOptions {
  readonly requestId?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly retryAfterMs?: number | undefined;
  readonly resumeToken?: string | undefined;
  readonly cause?: unknown;
}

/** What a service may put into an error, in characters; the rest is cut off. */
const MAX_MESSAGE_LENGTH = 1_000;
const MAX_NAME_LENGTH = 100;
const MAX_VALUE_LENGTH = 256;
const MAX_METADATA_COUNT = 24;

/**
 * The one error of this client. Neither message nor metadata ever hold a seed, a share or an API key. Texts of the
 * service are cut at a bound.
 */
export class TssError extends Error {
  override readonly name = "TssError";
  /** What went wrong, for machines. */
  readonly reason: TssErrorReason;
  /** The service's id of the request, to give to its operator. */
  readonly requestId: string | undefined;
  /**
   * Ids and limits; after a time-out what to resume with: `signRequestId`, `idempotencyKey`, `dwalletId`,
   * `sessionDigestHex`, `stage`.
   */
  readonly metadata: Readonly<Record<string, string>>;
  /** When trying again may help. */
  readonly retryAfterMs: number | undefined;
  /** What `client.resume` goes on with. There is one where the action may still succeed. It holds public ids alone. */
  readonly resumeToken: string | undefined;

  constructor(reason: TssErrorReason, message: string, options: TssErrorOptions = {}) {
    const cause = options.cause === undefined ? undefined : { cause: options.cause };
    super(message.slice(0, MAX_MESSAGE_LENGTH), cause);
    this.reason = reason.slice(0, MAX_NAME_LENGTH);
    this.requestId = options.requestId?.slice(0, MAX_NAME_LENGTH);
    this.metadata = bounded(options.metadata ?? {});
    this.retryAfterMs = options.retryAfterMs;
    this.resumeToken = options.resumeToken;
  }
}

function bounded(metadata: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(metadata).slice(0, MAX_METADATA_COUNT);
  return Object.fromEntries(
    entries.map(([name, value]) => [name.slice(0, MAX_NAME_LENGTH), value.slice(0, MAX_VALUE_LENGTH)]),
  );
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

/** The same error with more metadata, which wins over what the service says under the same names, and with a token. */
export function withMetadata(
  error: TssError,
  metadata: Readonly<Record<string, string>>,
  resumeToken?: string,
): TssError {
  const { reason, message, requestId, retryAfterMs } = error;
  return new TssError(reason, message, {
    requestId,
    metadata: { ...metadata, ...error.metadata, ...metadata },
    retryAfterMs,
    resumeToken: resumeToken ?? error.resumeToken,
    cause: error.cause,
  });
}

/** Whether an action that ended with this error may still succeed: nobody said no to it. */
export function isResumable({ reason, retryAfterMs }: TssError): boolean {
  return retryAfterMs !== undefined || UNDECIDED.has(reason);
}

/** Reasons that say nothing about the action itself. */
const UNDECIDED: ReadonlySet<string> = new Set([
  ...["TIMEOUT", "ABORTED", "UNREACHABLE", "CHAIN_UNAVAILABLE", "FULLNODES_DISAGREE"],
  ...["DEADLINE", "INTERNAL", "UNKNOWN", "CANCELED", "UNAVAILABLE", "DEADLINE_EXCEEDED"],
]);

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
