import { Code, type ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema, RetryInfoSchema } from "../../../gen/client/google/rpc/error_details_pb.ts";

/** Reasons that the client itself reports. `docs/errors.md` lists the service's reasons. */
export type LocalReason =
  /** An argument is missing or malformed. The service answers with the same reason. */
  | "VALIDATION"
  /** The network does not support this combination of curve, signature algorithm and hash. */
  | "UNSUPPORTED_ALGORITHM"
  /** The message is longer than 16,381 bytes. */
  | "MESSAGE_TOO_LARGE"
  /** The dWallet is not Active. */
  | "DWALLET_NOT_ACTIVE"
  /** The chain has no dWallet with this id. */
  | "DWALLET_NOT_FOUND"
  /** The Treasury does not hold the dWallet's capability; `metadata.owner` is its owner, if known. */
  | "DWALLET_LEFT"
  /** The Treasury records another owner of the dWallet than the seed's. */
  | "NOT_OWNER"
  /** The user could not take the new dWallet out of the service. Do not use it. */
  | "CUSTODY_MISMATCH"
  /** The object is not a Treasury; `metadata.treasuryId` is its id. */
  | "TREASURY_MISMATCH"
  /** The service reports success, but the chain does not show it. */
  | "EXIT_UNCONFIRMED"
  /** The Treasury refuses the owner's authorization; `metadata.abort` is the Move module and abort code. */
  | "AUTHORIZATION_REFUSED"
  /** A request is in a state that does not allow this step. */
  | "WRONG_STATE"
  /** The deadline passed. Work that has begun continues; `metadata` has the ids to resume it. */
  | "TIMEOUT"
  /** The caller's signal aborted. Work that has begun continues. */
  | "ABORTED"
  /** The service does not answer. */
  | "UNREACHABLE"
  /** Something other than the service answers at the base URL: a redirect or a page; `metadata.status` is its status. */
  | "WRONG_URL"
  /**
   * The function of the option `session` failed or returned no token, and the `cause` says why; or it returned the session
   * of another user than before.
   */
  | "SESSION_UNAVAILABLE"
  /** A fullnode does not answer; `metadata.fullnode` is its position in the list, from 1. */
  | "CHAIN_UNAVAILABLE"
  /** A webhook is not from the service, was changed on its way, or is too old. */
  | "WEBHOOK_INVALID"
  /** An earlier call of the same React hook still runs. */
  | "ALREADY_RUNNING"
  /** A part of the client's code cannot be loaded, such as a chunk of a page that was deployed again. */
  | "CODE_UNAVAILABLE"
  /**
   * Fullnodes keep returning different answers; `metadata` has `objectId` and the `fullnode` that differs from the
   * first.
   */
  | "FULLNODES_DISAGREE"
  /** The service or a fullnode serves another network or chain, or announces ids other than the network's. */
  | "NETWORK_MISMATCH"
  /** The chain has a layout of Ika's objects, or a version of the network's key, that this client cannot read. */
  | "NETWORK_UNSUPPORTED"
  /** An object on the chain has an unexpected type; `metadata.objectId` is its id. */
  | "OBJECT_MISMATCH"
  /** The network encryption key is unknown to the network, not for this curve, or has no valid output. */
  | "PARAMETERS_MISMATCH"
  /** The user's share does not fit the dWallet's public output. */
  | "SHARE_MISMATCH"
  /**
   * The dWallet's share is not derived from the seed: a third party may know it, or an older version of the client made
   * it.
   */
  | "SHARE_UNVERIFIED"
  /**
   * The chain lists more than 10,000 shares of the dWallet, so the user's own may be beyond them. Name it by
   * `encryptedUserSecretKeyShareId`; `metadata` has `dwalletId` and `maxCount`.
   */
  | "TOO_MANY_SHARES"
  /** The chain has no such encryption key of the recipient's address on the dWallet's curve. Share nothing with it. */
  | "RECIPIENT_MISMATCH"
  /** The public output from the service or the network is not the one that the user's half implies. */
  | "OUTPUT_MISMATCH"
  /** The presign differs from the one on the chain. */
  | "PRESIGN_MISMATCH"
  /** This client has used the presign for another message, and its engine makes one half for each presign. */
  | "PRESIGN_REUSED"
  /** The network rejected the request; `metadata.state` is its state. */
  | "NETWORK_REJECTED"
  /** The returned signature does not verify. */
  | "SIGNATURE_INVALID"
  /** The signatures would cost more than the caller allows; `metadata.priceMicroUsd` is their total price. */
  | "PRICE_ABOVE_LIMIT"
  /** The user's half could not be computed. */
  | "CRYPTO_FAILED"
  /** The platform has no passkeys: it is no page, or a page without HTTPS, or no device verifies its user. */
  | "PASSKEY_UNAVAILABLE"
  /** The passkey, its provider or the browser computes no seed; `metadata.credentialId` is the passkey. */
  | "PASSKEY_WITHOUT_PRF"
  /** The user cancelled, or the browser found no fitting passkey. Browsers do not tell these apart. */
  | "PASSKEY_REFUSED"
  /** The device already has one of the excluded passkeys. */
  | "PASSKEY_EXISTS"
  /** Another passkey answered than the named ones, or the wrapped seed is not this passkey's or was changed. */
  | "PASSKEY_MISMATCH"
  /** The browser or its passkey provider failed; the `cause` is its error. */
  | "PASSKEY_FAILED";

/** A machine-readable reason: this client's own or the service's. */
export type TssErrorReason = LocalReason | (string & {});

/** Options of {@link TssError}. */
export interface TssErrorOptions {
  readonly requestId?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly retryAfterMs?: number | undefined;
  readonly resumeToken?: string | undefined;
  readonly cause?: unknown;
}

/** The longest error text taken from a service, in characters. The rest is cut off. */
const MAX_MESSAGE_LENGTH = 1_000;
const MAX_NAME_LENGTH = 100;
const MAX_VALUE_LENGTH = 256;
const MAX_METADATA_COUNT = 24;

/**
 * The only error class of this client. Message and metadata never contain a seed, a share or an API key. Texts from the
 * service are cut off at 1,000 characters.
 */
export class TssError extends Error {
  override readonly name = "TssError";
  /** The machine-readable reason. */
  readonly reason: TssErrorReason;
  /** The service's request id, for a report to its operator. */
  readonly requestId: string | undefined;
  /**
   * Ids and limits; after a time-out, the ids to resume with: `signRequestId`, `idempotencyKey`, `dwalletId`,
   * `sessionDigestHex`, `stage`.
   */
  readonly metadata: Readonly<Record<string, string>>;
  /** The delay in milliseconds after which a retry may succeed; undefined when a retry cannot help. */
  readonly retryAfterMs: number | undefined;
  /** The argument of `client.resume`, set when the action may still succeed. It contains only public ids. */
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

/** Converts a service's error: reason and metadata from ErrorInfo, the retry delay from RetryInfo. */
export function fromConnectError(error: ConnectError): TssError {
  // The transport's own refusal.
  if (error.cause instanceof TssError) return error.cause;
  const info = error.findDetails(ErrorInfoSchema).find((detail) => detail.domain === "tss");
  const advice = isUntrusted(error) ? UNTRUSTED : "";
  return new TssError(info?.reason ?? reasonOfCode(error), `${error.rawMessage}${advice}`, {
    // A non-Connect answer may carry the header twice: in its headers and its trailers.
    requestId: error.metadata.get("x-request-id")?.split(", ")[0],
    metadata: info?.metadata ?? {},
    retryAfterMs: retryAfterMs(error),
    cause: error,
  });
}

/** Returns true if Node does not trust the authority that signed the service's certificate. */
function isUntrusted(error: ConnectError): boolean {
  return causesOf(error.cause).some((cause) => "code" in cause && UNTRUSTED_CODES.has(String(cause.code)));
}

/** Returns an error and its causes, as far as they are errors. */
function causesOf(cause: unknown): Error[] {
  const found: Error[] = [];
  for (let each = cause; each instanceof Error && found.length < CAUSES_MAX_COUNT; each = each.cause)
    found.push(each);
  return found;
}

const CAUSES_MAX_COUNT = 5;
const UNTRUSTED =
  ": its certificate is of an authority that this program does not trust; name a private authority's file in NODE_EXTRA_CA_CERTS";
/** Node's codes, which are OpenSSL's. */
const UNTRUSTED_CODES: ReadonlySet<string> = new Set([
  ...["SELF_SIGNED_CERT_IN_CHAIN", "DEPTH_ZERO_SELF_SIGNED_CERT"],
  ...["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "UNABLE_TO_GET_ISSUER_CERT"],
]);

/** Returns the same error with a token and more metadata, which overrides the service's values of the same names. */
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

/** Returns whether an action that ended with this error may still succeed, because nothing rejected it. */
export function isResumable({ reason, retryAfterMs }: TssError): boolean {
  return retryAfterMs !== undefined || UNDECIDED.has(reason);
}

/** Reasons that do not decide whether the action succeeds. */
const UNDECIDED: ReadonlySet<string> = new Set([
  ...["TIMEOUT", "ABORTED", "UNREACHABLE", "WRONG_URL", "CHAIN_UNAVAILABLE", "FULLNODES_DISAGREE"],
  // Refusals of the caller, which say nothing of what has begun. Another key or session can continue.
  ...["SESSION_UNAVAILABLE", "SESSION_EXPIRED", "SESSION_REVOKED", "PROOF_INVALID"],
  ...["MISSING_KEY", "INVALID_KEY", "REVOKED_KEY", "EXPIRED_KEY", "KEY_IN_BROWSER", "ORIGIN_NOT_ALLOWED"],
  ...["ADDRESS_NOT_ALLOWED", "SCOPE_MISSING", "OUT_OF_REACH", "NETWORK_DISABLED"],
  ...["UNAUTHENTICATED", "PERMISSION_DENIED"],
  ...["CODE_UNAVAILABLE", "DEADLINE", "INTERNAL", "UNKNOWN", "CANCELED", "UNAVAILABLE", "DEADLINE_EXCEEDED"],
]);

/**
 * Returns whether the service was not reached, an intermediary answered for it, or the connection broke before its
 * reply. The service's own errors have an ErrorInfo.
 */
export function isTransportFailure(error: ConnectError): boolean {
  if (error.findDetails(ErrorInfoSchema).length > 0) return false;
  const { cause } = error;
  switch (error.code) {
    case Code.Unavailable:
    case Code.DeadlineExceeded:
    // connect-node's codes for a reset stream, a GOAWAY and a broken connection. The caller's own abort is not one.
    case Code.Aborted:
    case Code.Canceled:
      return true;
    case Code.Unknown:
      // fetch reports a broken connection as a TypeError, which Connect wraps; Bun's error has a code.
      return cause instanceof TypeError || hasCode(cause);
    case Code.Internal:
      // connect-node's code for other resets. Without a cause and a header, no reply arrived at all.
      return cause === undefined ? [...error.metadata.keys()].length === 0 : hasCode(cause);
    default:
      return false;
  }
}

/** Returns whether the service itself refused the call. */
export function isAnswer(error: ConnectError): boolean {
  return error.findDetails(ErrorInfoSchema).some(({ domain }) => domain === "tss");
}

/** Returns true for an error of a socket or a stream, or one that such an error caused. */
function hasCode(cause: unknown): boolean {
  return causesOf(cause).some((error) => "code" in error && typeof error.code === "string");
}

function retryAfterMs(error: ConnectError): number | undefined {
  const delay = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
  if (delay !== undefined) return Number(delay.seconds) * 1000 + Math.ceil(delay.nanos / 1e6);
  const seconds = Number(error.metadata.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

/** Returns the code's name in the contract's spelling, for answers without ErrorInfo such as a proxy's. */
function reasonOfCode(error: ConnectError): string {
  if (isTransportFailure(error)) return "UNREACHABLE";
  if (error.code === Code.InvalidArgument) return "VALIDATION";
  return Code[error.code].replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase();
}
