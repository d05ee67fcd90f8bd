import { Code } from "@connectrpc/connect";

/** One kind of expected failure. */
export interface ErrorKind {
  readonly code: Code;
  /** When it happens and what to do, for `docs/errors.md`. */
  readonly meaning: string;
  /** Seconds after which a retry may help; sent as RetryInfo and `retry-after`. */
  readonly retryAfterSeconds?: number;
  /** Each reply says its own number of seconds in place of {@link retryAfterSeconds}. */
  readonly isRetryComputed?: boolean;
  /** Keys that the ErrorInfo's metadata may have: public facts for programs. Default: none. */
  readonly metadata?: readonly string[];
  /** The HTTP status over REST where it differs from the code's. */
  readonly httpStatus?: number;
}

/** The closed catalogue: every reason that a reply may carry in its `google.rpc.ErrorInfo`. */
export const ERROR_CATALOGUE = {
  MISSING_KEY: kind(
    Code.Unauthenticated,
    "No API key was sent. Send `authorization: Bearer <key>` or `x-api-key`.",
  ),
  INVALID_KEY: kind(Code.Unauthenticated, "The API key is not known."),
  REVOKED_KEY: kind(Code.Unauthenticated, "The API key was revoked."),
  EXPIRED_KEY: kind(Code.Unauthenticated, "The API key has expired.", { metadata: ["expireTime"] }),
  NETWORK_MISMATCH: kind(
    Code.Unauthenticated,
    "The header `x-network` names another network than the key's.",
    { metadata: ["network"] },
  ),
  ADMIN_ONLY: kind(Code.PermissionDenied, "This call needs an admin key."),
  ROOT_KEY_ONLY: kind(
    Code.PermissionDenied,
    "This call needs ADMIN_API_KEY itself; a named admin key is not enough.",
  ),
  ADDRESS_NOT_ALLOWED: kind(
    Code.PermissionDenied,
    "The key may not be used from the address that the call comes from, which the metadata has.",
    { metadata: ["address"] },
  ),
  SCOPE_MISSING: kind(Code.PermissionDenied, "The key lacks the scope that this call needs.", {
    metadata: ["scope"],
  }),
  NETWORK_DISABLED: kind(Code.PermissionDenied, "This service does not serve that network.", {
    metadata: ["network"],
  }),
  VALIDATION: kind(Code.InvalidArgument, "A field is missing or malformed; the BadRequest detail names it."),
  UNSUPPORTED_ALGORITHM: kind(
    Code.InvalidArgument,
    "Curve, signature algorithm and hash are not a combination that the network signs with.",
    { metadata: ["dwalletId"] },
  ),
  MESSAGE_TOO_LARGE: kind(Code.InvalidArgument, "The message is longer than 16,381 bytes.", {
    metadata: ["maxBytes"],
  }),
  BAD_SIGNATURE: kind(
    Code.InvalidArgument,
    "A signature in the request does not verify under the key beside it.",
  ),
  WRONG_SENDER: kind(
    Code.InvalidArgument,
    "The DKG was prepared for an address that this service does not send from. Read GetNetwork again.",
    { metadata: ["senderAddresses"] },
  ),
  MALFORMED_SIGN_MESSAGE: kind(
    Code.InvalidArgument,
    "The user's sign message does not have the layout of its algorithm, or its partial signature is wrong.",
  ),
  DWALLET_NOT_FOUND: kind(Code.NotFound, "The project has no dWallet with this id.", {
    metadata: ["dwalletId"],
  }),
  ENCRYPTION_KEY_NOT_FOUND: kind(Code.NotFound, "The project has no encryption key with this id.", {
    metadata: ["encryptionKeyId"],
  }),
  SIGN_REQUEST_NOT_FOUND: kind(Code.NotFound, "The project has no sign request with this id.", {
    metadata: ["signRequestId"],
  }),
  PROJECT_NOT_FOUND: kind(Code.NotFound, "The network has no project with this id.", {
    metadata: ["projectId"],
  }),
  API_KEY_NOT_FOUND: kind(Code.NotFound, "No project of the network has a key with this id.", {
    metadata: ["apiKeyId"],
  }),
  ADMIN_KEY_NOT_FOUND: kind(Code.NotFound, "There is no admin key with this id.", {
    metadata: ["adminKeyId"],
  }),
  AUDIT_EVENT_NOT_FOUND: kind(Code.NotFound, "The network has no audit event with this id.", {
    metadata: ["auditEventId"],
  }),
  PARAMETERS_NOT_FOUND: kind(Code.NotFound, "No protocol parameters with this digest are served.", {
    metadata: ["sha256"],
  }),
  DEPOSIT_NOT_FOUND: kind(
    Code.NotFound,
    "The fullnode knows no transaction with this digest that paid accepted coins to the project's deposit address. A " +
      "new one may take a few seconds to be known.",
    { metadata: ["txDigest"] },
  ),
  ROUTE_NOT_FOUND: kind(Code.NotFound, "There is no such route."),
  METHOD_NOT_ALLOWED: kind(
    Code.Unimplemented,
    "The route does not take this HTTP method; the header `allow` names those it takes.",
    { httpStatus: 405 },
  ),
  UNSUPPORTED_MEDIA_TYPE: kind(
    Code.InvalidArgument,
    "The body's content type or encoding is not one that the route takes. REST takes application/json, also as gzip or br.",
    { httpStatus: 415 },
  ),
  NOT_ACCEPTABLE: kind(
    Code.InvalidArgument,
    "The header `accept` allows none of the types that the route replies with; the message names them.",
    { httpStatus: 406 },
  ),
  RANGE_NOT_SATISFIABLE: kind(
    Code.OutOfRange,
    "The header `range` begins behind the end of the body; the header `content-range` has its length.",
    { httpStatus: 416 },
  ),
  UNIMPLEMENTED: kind(
    Code.Unimplemented,
    "The method, or the compression or the form of its messages, is not one that this server has.",
  ),
  MALFORMED_FRAME: kind(
    Code.Internal,
    "A message of gRPC, gRPC-web or a Connect stream is framed wrongly: it has reserved flags, or is compressed while " +
      "the headers do not say with what. gRPC wants this code for it; the fault is the caller's.",
  ),
  INSUFFICIENT_CREDIT: kind(
    Code.FailedPrecondition,
    "The project's available credit is below the price, or below what is to be taken away.",
    { metadata: ["priceMicroUsd"] },
  ),
  DWALLET_NOT_ACTIVE: kind(Code.FailedPrecondition, "The dWallet is not Active yet, or never will be.", {
    metadata: ["dwalletId", "state"],
  }),
  WRONG_STATE: kind(Code.FailedPrecondition, "The resource is not in a state that allows this call.", {
    metadata: ["status", "expireTime", "state"],
  }),
  STALE_NETWORK_KEY: kind(
    Code.FailedPrecondition,
    "The DKG was prepared for a network encryption key that is not the newest. Read GetNetwork again.",
    { metadata: ["networkEncryptionKeyId"] },
  ),
  DEPOSITS_DISABLED: kind(
    Code.FailedPrecondition,
    "This service takes no deposits: its operator has not set them up.",
  ),
  DEPOSIT_TAKEN: kind(Code.AlreadyExists, "The transaction paid to another project's deposit address.", {
    metadata: ["txDigest"],
  }),
  IDEMPOTENCY_KEY_REUSED: kind(
    Code.AlreadyExists,
    "The idempotency key was used before with another request.",
    { httpStatus: 422, metadata: ["method"] },
  ),
  SESSION_REUSED: kind(
    Code.AlreadyExists,
    "The session identifier was used before with another body. Where the project itself used it, the metadata has the " +
      "dWallet's state, and its id once there is one.",
    { metadata: ["sessionIdentifier", "dwalletId", "state"] },
  ),
  DWALLET_NAME_TAKEN: kind(
    Code.AlreadyExists,
    "Another dWallet of the project has this name. List dWallets by the name to find it.",
    { metadata: ["name"] },
  ),
  ENCRYPTION_KEY_CONFLICT: kind(
    Code.AlreadyExists,
    "The signer has registered another encryption key. A signer has one key for ever.",
  ),
  ADMIN_KEY_NAME_TAKEN: kind(
    Code.AlreadyExists,
    "An admin key has or had this name, which stands for it in the audit trail for good. Choose another one.",
    { metadata: ["name"] },
  ),
  IDEMPOTENCY_IN_FLIGHT: kind(Code.Aborted, "A call with this idempotency key is under way.", {
    retryAfterSeconds: 1,
  }),
  RATE_LIMITED: kind(
    Code.ResourceExhausted,
    "Too many calls of one cost class with this key, or from this address without one. `retry-after` says when one is " +
      "taken again.",
    { retryAfterSeconds: 1, isRetryComputed: true },
  ),
  QUOTA_EXCEEDED: kind(
    Code.ResourceExhausted,
    "The project has created as many dWallets or encryption keys in 24 hours as it may.",
    { isRetryComputed: true, metadata: ["maxCount"] },
  ),
  TOO_MANY_RESERVATIONS: kind(Code.ResourceExhausted, "The project holds too many open reservations.", {
    retryAfterSeconds: 5,
    metadata: ["maxCount"],
  }),
  TOO_MANY_STREAMS: kind(
    Code.ResourceExhausted,
    "The key, the project, or the address of calls without a key has as many streams open as it may. `per` says which.",
    { retryAfterSeconds: 5, metadata: ["per", "maxCount"] },
  ),
  TOO_MANY_WRONG_HALVES: kind(
    Code.ResourceExhausted,
    "The project has sent too many wrong users' halves. None of its halves is verified until `retry-after` is over.",
    { isRetryComputed: true },
  ),
  CHAIN_READS_EXHAUSTED: kind(
    Code.ResourceExhausted,
    "Calls have used up the reads of the fullnode that they may cause: the project's, or all calls'. `budget` says which.",
    { isRetryComputed: true, metadata: ["budget"] },
  ),
  VERIFICATION_BUSY: kind(
    Code.ResourceExhausted,
    "Too many users' halves wait to be verified: the project's own, or everyone's.",
    { retryAfterSeconds: 1 },
  ),
  BODY_TOO_LARGE: kind(Code.ResourceExhausted, "The body is larger than 256 KiB.", { httpStatus: 413 }),
  PRESIGN_POOL_EMPTY: kind(Code.Unavailable, "No presign is ready. The pool is being filled.", {
    retryAfterSeconds: 2,
  }),
  CHAIN_UNAVAILABLE: kind(Code.Unavailable, "The fullnode does not answer.", { retryAfterSeconds: 5 }),
  DATABASE_UNAVAILABLE: kind(
    Code.Unavailable,
    "The database does not answer, has no connection left, took too long, or ended the call's connection. Whether the call took effect is not known: repeat it with its idempotency key.",
    { retryAfterSeconds: 1 },
  ),
  PRICE_FEED_STALE: kind(
    Code.Unavailable,
    "There is no fresh price for the coins. What was deposited is known, waits, and is credited once there is one.",
    { retryAfterSeconds: 30, metadata: ["coinTypes"] },
  ),
  DRAINING: kind(Code.Unavailable, "This process is stopping; another one answers.", {
    retryAfterSeconds: 1,
  }),
  WATCH_ENDED: kind(
    Code.Unavailable,
    "The watch has lasted ten minutes. Watch again with the cursor of its last message.",
    { retryAfterSeconds: 0, metadata: ["cursor"] },
  ),
  CHAIN_REJECTED: kind(
    Code.FailedPrecondition,
    "The chain refused the operation for good, with the words in the metadata.",
    { metadata: ["chainError"] },
  ),
  DEADLINE: kind(
    Code.DeadlineExceeded,
    "The call's deadline passed. What was begun goes on; read it by its id.",
  ),
  INTERNAL: kind(Code.Internal, "Our fault. The log has the cause under the request id of this reply.", {
    metadata: ["requestId"],
  }),
} as const satisfies Record<string, ErrorKind>;

/** A reason of the catalogue. */
export type ErrorReason = keyof typeof ERROR_CATALOGUE;

function kind(code: Code, meaning: string, extra: Omit<ErrorKind, "code" | "meaning"> = {}): ErrorKind {
  return { code, meaning, ...extra };
}
