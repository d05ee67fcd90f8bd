import { Code } from "@connectrpc/connect";

/** One kind of expected failure. */
export interface ErrorKind {
  readonly code: Code;
  /** The cause and the remedy, for `docs/errors.md`. */
  readonly meaning: string;
  /** Seconds after which a retry may help; sent as RetryInfo and `retry-after`. */
  readonly retryAfterSeconds?: number;
  /** If true, each reply computes its own number of seconds instead of {@link retryAfterSeconds}. */
  readonly isRetryComputed?: boolean;
  /** The keys of the ErrorInfo's metadata: public facts for programs. Default: none. */
  readonly metadata?: readonly string[];
  /** The HTTP status over REST, if it differs from that of the code. */
  readonly httpStatus?: number;
}

/** The complete catalogue of the reasons that a reply can have in its `google.rpc.ErrorInfo`. */
export const ERROR_CATALOGUE = {
  MISSING_KEY: kind(
    Code.Unauthenticated,
    "No API key was sent. Send `authorization: Bearer <key>` or `x-api-key`.",
  ),
  INVALID_KEY: kind(Code.Unauthenticated, "The API key is unknown."),
  REVOKED_KEY: kind(Code.Unauthenticated, "The API key was revoked."),
  EXPIRED_KEY: kind(Code.Unauthenticated, "The API key has expired.", { metadata: ["expireTime"] }),
  SESSION_REVOKED: kind(
    Code.Unauthenticated,
    "The session was revoked, or the key that created it was. The user's backend must create another one.",
  ),
  SESSION_EXPIRED: kind(
    Code.Unauthenticated,
    "The session has expired, or the key that created it. The user's backend must create another one.",
    { metadata: ["expireTime"] },
  ),
  NETWORK_MISMATCH: kind(
    Code.Unauthenticated,
    "The header `x-network` names a network other than the key's.",
    { metadata: ["network"] },
  ),
  TOKEN_INVALID: kind(
    Code.Unauthenticated,
    "The ID token is not accepted: no identity provider of the project has issued it for this application, it is malformed, too old or not yet valid, or the user's sessions were ended since. `fault` says which check failed.",
    { metadata: ["fault"] },
  ),
  PROOF_INVALID: kind(
    Code.Unauthenticated,
    "The DPoP proof is missing or not accepted: it is of another key, or for another call or token, or was used before. Make a new proof for each call. `fault` says which check failed.",
    { metadata: ["fault"] },
  ),
  PROOF_NONCE_REQUIRED: kind(
    Code.Unauthenticated,
    "The DPoP proof lacks a current nonce of the service. Make the proof again with the nonce of the reply's header `dpop-nonce`, and send the call once more.",
    { retryAfterSeconds: 0 },
  ),
  ADMIN_ONLY: kind(Code.PermissionDenied, "This call needs an admin key."),
  ROOT_KEY_ONLY: kind(
    Code.PermissionDenied,
    "This call needs ADMIN_API_KEY; a named admin key is not sufficient.",
  ),
  ADDRESS_NOT_ALLOWED: kind(
    Code.PermissionDenied,
    "The key does not allow calls from this address. The metadata has the address.",
    { metadata: ["address"] },
  ),
  ORIGIN_NOT_ALLOWED: kind(
    Code.PermissionDenied,
    "The session or key does not allow pages of the origin in the metadata. Name the origin when you create it.",
    { metadata: ["origin"] },
  ),
  KEY_IN_BROWSER: kind(
    Code.PermissionDenied,
    "A page sent a project key, which everybody who opens the page could read. Keep the key on a backend, create a " +
      "session there for each user with CreateSession, and send the session's token from the page. An operator can " +
      "allow the key in pages of named origins with the field `allowed_origins`.",
    { metadata: ["origin"] },
  ),
  SESSION_TOO_WIDE: kind(
    Code.PermissionDenied,
    "The key cannot give a session more than it has itself. The metadata names the field that exceeds the key's. A key " +
      "with a budget creates no sessions, because each session would add to the budget.",
    { metadata: ["field"] },
  ),
  SCOPE_MISSING: kind(Code.PermissionDenied, "The key lacks the scope that this call needs.", {
    metadata: ["scope"],
  }),
  OUT_OF_REACH: kind(
    Code.PermissionDenied,
    "The caller is confined to users or dWallets, and the call is about the whole project, another user, or the held half " +
      "of another user. Use a key of the project that is not confined, or leave out the user.",
  ),
  NETWORK_DISABLED: kind(Code.PermissionDenied, "This service does not serve that network.", {
    metadata: ["network"],
  }),
  ALGORITHM_NOT_ALLOWED: kind(
    Code.PermissionDenied,
    "The key does not allow this signature algorithm. The metadata has the algorithm.",
    { metadata: ["signatureAlgorithm"] },
  ),
  VALIDATION: kind(Code.InvalidArgument, "A field is missing or malformed; the BadRequest detail names it."),
  UNSUPPORTED_ALGORITHM: kind(
    Code.InvalidArgument,
    "The network does not support this combination of curve, signature algorithm and hash.",
    { metadata: ["dwalletId"] },
  ),
  MESSAGE_TOO_LARGE: kind(Code.InvalidArgument, "The message is longer than 16,381 bytes.", {
    metadata: ["maxBytes"],
  }),
  BAD_SIGNATURE: kind(
    Code.InvalidArgument,
    "A signature in the request does not verify under the accompanying key.",
  ),
  WRONG_SENDER: kind(
    Code.InvalidArgument,
    "The DKG was prepared for an address from which this service does not send. Call GetNetwork again.",
    { metadata: ["senderAddresses"] },
  ),
  MALFORMED_SIGN_MESSAGE: kind(
    Code.InvalidArgument,
    "The user's sign message does not have the layout of its algorithm, or its partial signature is wrong.",
  ),
  HOLDER_NOT_FOUND: kind(Code.NotFound, "The dWallet has no holder with this address or share.", {
    metadata: ["dwalletId"],
  }),
  TOO_MANY_HOLDERS: kind(
    Code.FailedPrecondition,
    "The dWallet has as many holders as it may have. Remove one with RemoveHolder.",
    { metadata: ["dwalletId", "maxCount"] },
  ),
  DWALLET_NOT_FOUND: kind(
    Code.NotFound,
    "The project, or the user that the caller is confined to, has no dWallet with this id.",
    {
      metadata: ["dwalletId"],
    },
  ),
  ENCRYPTION_KEY_NOT_FOUND: kind(
    Code.NotFound,
    "The project, or the user that the call is for, has no encryption key with this id.",
    {
      metadata: ["encryptionKeyId"],
    },
  ),
  SIGN_REQUEST_NOT_FOUND: kind(
    Code.NotFound,
    "The project, or the user that the caller is confined to, has no sign request with this id.",
    {
      metadata: ["signRequestId"],
    },
  ),
  USER_NOT_FOUND: kind(Code.NotFound, "The project has no user with this reference.", {
    metadata: ["reference"],
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
  SESSION_NOT_FOUND: kind(
    Code.NotFound,
    "The project has no session with this id. The service deletes a session a day after its expiry.",
    { metadata: ["sessionId"] },
  ),
  IDENTITY_PROVIDER_NOT_FOUND: kind(
    Code.NotFound,
    "No project of the network has an identity provider with this id.",
    { metadata: ["identityProviderId"] },
  ),
  WEBHOOK_ENDPOINT_NOT_FOUND: kind(Code.NotFound, "The project has no webhook endpoint with this id.", {
    metadata: ["webhookEndpointId"],
  }),
  WEBHOOK_DELIVERY_NOT_FOUND: kind(
    Code.NotFound,
    "The project has no webhook delivery with this id. Deliveries are kept for 30 days.",
    { metadata: ["webhookDeliveryId"] },
  ),
  AUDIT_EVENT_NOT_FOUND: kind(Code.NotFound, "The network has no audit event with this id.", {
    metadata: ["auditEventId"],
  }),
  SUBJECT_NOT_FOUND: kind(
    Code.NotFound,
    "The network has no sign request, dWallet or chain operation with this id. Look on the other networks of the service.",
    { metadata: ["subjectId"] },
  ),
  PARAMETERS_NOT_FOUND: kind(Code.NotFound, "The service has no protocol parameters with this digest.", {
    metadata: ["sha256"],
  }),
  DEPOSIT_NOT_FOUND: kind(
    Code.NotFound,
    "The fullnode knows no transaction with this digest that paid accepted coins to a deposit address of the project. A " +
      "new transaction may take a few seconds to appear.",
    { metadata: ["txDigest"] },
  ),
  ROUTE_NOT_FOUND: kind(Code.NotFound, "There is no such route."),
  METHOD_NOT_ALLOWED: kind(
    Code.Unimplemented,
    "The route does not accept this HTTP method; the header `allow` lists the accepted ones.",
    { httpStatus: 405 },
  ),
  UNSUPPORTED_MEDIA_TYPE: kind(
    Code.InvalidArgument,
    "The route does not accept the content type or encoding of the body. REST accepts application/json, also as gzip or br.",
    { httpStatus: 415 },
  ),
  NOT_ACCEPTABLE: kind(
    Code.InvalidArgument,
    "The header `accept` allows none of the route's reply types; the message lists them.",
    { httpStatus: 406 },
  ),
  RANGE_NOT_SATISFIABLE: kind(
    Code.OutOfRange,
    "The header `range` begins after the end of the body; the header `content-range` has the length of the body.",
    { httpStatus: 416 },
  ),
  UNIMPLEMENTED: kind(
    Code.Unimplemented,
    "The server does not have this method, or does not support the compression or the format of its messages.",
  ),
  MALFORMED_FRAME: kind(
    Code.Internal,
    "The framing of a gRPC, gRPC-web or Connect message is invalid: it has reserved flags, or it is compressed while the " +
      "headers name no compression. The caller is at fault, although gRPC prescribes this code.",
  ),
  INSUFFICIENT_CREDIT: kind(
    Code.FailedPrecondition,
    "The project's available credit is below the price, or below the amount to remove.",
    { metadata: ["priceMicroUsd"] },
  ),
  DWALLET_NOT_ACTIVE: kind(
    Code.FailedPrecondition,
    "The dWallet is not Active: its DKG is still running, or it has failed.",
    {
      metadata: ["dwalletId", "state"],
    },
  ),
  DWALLET_LEFT: kind(
    Code.FailedPrecondition,
    "The dWallet has left the service, or is leaving. Only the holder of its capability can request signatures.",
    { metadata: ["dwalletId", "state"] },
  ),
  WRONG_STATE: kind(Code.FailedPrecondition, "The resource is not in a state that allows this call.", {
    metadata: ["status", "expireTime", "state"],
  }),
  USER_FROZEN: kind(
    Code.FailedPrecondition,
    "The user is frozen: the service registers, makes, accepts and signs nothing for the user until UnfreezeUser is called.",
    { metadata: ["reference"] },
  ),
  USER_DELETED: kind(
    Code.FailedPrecondition,
    "The user was deleted. A reference is never used again; choose another one.",
    { metadata: ["reference"] },
  ),
  STALE_NETWORK_KEY: kind(
    Code.FailedPrecondition,
    "The DKG was prepared for an outdated network encryption key. Call GetNetwork again.",
    { metadata: ["networkEncryptionKeyId"] },
  ),
  DEPOSITS_DISABLED: kind(
    Code.FailedPrecondition,
    "This service accepts no deposits: its operator has not configured them.",
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
    "The session identifier was used before with another request. If the same project used it, the metadata has the " +
      "dWallet's state, and its id once it exists.",
    { metadata: ["sessionIdentifier", "dwalletId", "state"] },
  ),
  DWALLET_NAME_TAKEN: kind(
    Code.AlreadyExists,
    "Another dWallet of the same user, or of the project without a user, has this name. Call ListDWallets with the name to find it.",
    { metadata: ["name"] },
  ),
  DWALLET_TAKEN: kind(
    Code.AlreadyExists,
    "Another project, or another user of the project, has this dWallet already. A dWallet belongs to one of them for good. CreateDWallet: the session is of an older database, and its dWallet was adopted.",
    { metadata: ["dwalletId"] },
  ),
  ENCRYPTION_KEY_CONFLICT: kind(
    Code.AlreadyExists,
    "The signer has registered another encryption key. A signer keeps its first key.",
  ),
  IDENTITY_PROVIDER_EXISTS: kind(
    Code.AlreadyExists,
    "The project has an identity provider with this issuer. Delete it first.",
    { metadata: ["issuer"] },
  ),
  ADMIN_KEY_NAME_TAKEN: kind(
    Code.AlreadyExists,
    "The name is taken by an admin key, or by one that was revoked: the audit trail refers to keys by name. Choose another name.",
    { metadata: ["name"] },
  ),
  IDEMPOTENCY_IN_FLIGHT: kind(Code.Aborted, "A call with this idempotency key is in progress.", {
    retryAfterSeconds: 1,
  }),
  RATE_LIMITED: kind(
    Code.ResourceExhausted,
    "Too many calls of one cost class with this key, or from this address without a key. Retry after `retry-after`.",
    { retryAfterSeconds: 1, isRetryComputed: true },
  ),
  QUOTA_EXCEEDED: kind(
    Code.ResourceExhausted,
    "The project has reached its limit of new dWallets or encryption keys in 24 hours.",
    { isRetryComputed: true, metadata: ["maxCount"] },
  ),
  BUDGET_EXCEEDED: kind(
    Code.ResourceExhausted,
    "The price does not fit the budget of the key. The metadata has what is left, as `leftCount` requests and `leftMicroUsd`, each absent without such a limit, and `growTime`, when the oldest spent part of the budget is free again.",
    { metadata: ["leftCount", "leftMicroUsd", "growTime"] },
  ),
  CURSOR_LOST: kind(
    Code.OutOfRange,
    "Events after the cursor are no longer kept: they are older than 30 days, or the service was restored from a backup that lacks events before the cursor. Read the current state of what you follow, and list events without a cursor.",
  ),
  WEBHOOKS_OFF: kind(
    Code.FailedPrecondition,
    "The service sends no webhooks: its operator has not set WEBHOOK_SECRET_HEX. List or watch the events instead.",
  ),
  TOO_MANY_WEBHOOK_ENDPOINTS: kind(
    Code.ResourceExhausted,
    "The project has reached its limit of webhook endpoints. Delete one of them first.",
    { metadata: ["maxCount"] },
  ),
  TOO_MANY_WEBHOOK_DELIVERIES: kind(
    Code.ResourceExhausted,
    "The webhook endpoint has too many pending deliveries. Retry when it has received some.",
    { retryAfterSeconds: 60, metadata: ["maxCount"] },
  ),
  TOO_MANY_IDENTITY_PROVIDERS: kind(
    Code.ResourceExhausted,
    "The project has reached its limit of identity providers. Delete one of them first.",
    { metadata: ["maxCount"] },
  ),
  TOO_MANY_DEPOSIT_REFERENCES: kind(
    Code.ResourceExhausted,
    "The project has reached its limit of deposit addresses with a reference. It can still use the existing ones.",
    { metadata: ["maxCount"] },
  ),
  TOO_MANY_USERS: kind(
    Code.ResourceExhausted,
    "The project has reached its limit of users, deleted ones included. It can still use the existing ones.",
    { metadata: ["maxCount"] },
  ),
  TOO_MANY_RESERVATIONS: kind(Code.ResourceExhausted, "The project has too many open reservations.", {
    retryAfterSeconds: 5,
    metadata: ["maxCount"],
  }),
  TOO_MANY_SESSIONS: kind(
    Code.ResourceExhausted,
    "The project has the maximum number of sessions that have not expired. Create sessions with a shorter lifetime.",
    { retryAfterSeconds: 60, metadata: ["maxCount"] },
  ),
  TOO_MANY_STREAMS: kind(
    Code.ResourceExhausted,
    "The key, the session's user, the project, or the caller's address if it has no key, has reached its limit of open " +
      "streams. `per` says which.",
    { retryAfterSeconds: 5, metadata: ["per", "maxCount"] },
  ),
  TOO_MANY_WRONG_HALVES: kind(
    Code.ResourceExhausted,
    "The project, or the dWallet's user, has sent too many invalid user halves. The service verifies none of its halves until `retry-after` has passed.",
    { isRetryComputed: true },
  ),
  CHAIN_READS_EXHAUSTED: kind(
    Code.ResourceExhausted,
    "The budget of fullnode reads is used up: the project's, or that of all projects. `budget` says which.",
    { isRetryComputed: true, metadata: ["budget"] },
  ),
  VERIFICATION_BUSY: kind(
    Code.ResourceExhausted,
    "Too many user halves of this project or of all projects are waiting for verification.",
    { retryAfterSeconds: 1 },
  ),
  BODY_TOO_LARGE: kind(Code.ResourceExhausted, "The body is larger than 256 KiB.", { httpStatus: 413 }),
  PRESIGN_POOL_EMPTY: kind(Code.Unavailable, "No presign is ready. The pool is being refilled.", {
    retryAfterSeconds: 2,
  }),
  DATABASE_BEHIND_CHAIN: kind(
    Code.Unavailable,
    "The service's database is older than the chain, for example after a restore, so it takes no new signatures and adopts no dWallets. Its " +
      "operator must bring it in line with the chain. Retry later.",
    { retryAfterSeconds: 60, metadata: ["network"] },
  ),
  IDENTITY_PROVIDER_UNAVAILABLE: kind(
    Code.Unavailable,
    "The keys of the ID token's issuer cannot be read, and no recent ones are known. Retry later.",
    { retryAfterSeconds: 30 },
  ),
  DEPOSIT_ADDRESS_PENDING: kind(
    Code.Unavailable,
    "A worker makes new deposit addresses, and none has made this one yet. Retry.",
    { retryAfterSeconds: 5 },
  ),
  CHAIN_UNAVAILABLE: kind(Code.Unavailable, "The fullnode does not respond.", { retryAfterSeconds: 5 }),
  NETWORK_UNAVAILABLE: kind(
    Code.Unavailable,
    "This replica has not reached the network since it started; it keeps trying. Other networks are not affected.",
    { retryAfterSeconds: 5, metadata: ["network"] },
  ),
  NETWORK_DRAINING: kind(
    Code.FailedPrecondition,
    "The operator has closed the network to new work: registrations, dWallets and signatures. Open work still completes.",
    { metadata: ["network"] },
  ),
  DATABASE_UNAVAILABLE: kind(
    Code.Unavailable,
    "The database does not respond, has no free connection, took too long, or closed the call's connection. The call may or may not have taken effect: retry it with its idempotency key.",
    { retryAfterSeconds: 1 },
  ),
  PRICE_FEED_STALE: kind(
    Code.Unavailable,
    "There is no current price for the coins. The service has recorded the deposit and credits it as soon as there is one.",
    { retryAfterSeconds: 30, metadata: ["coinTypes"] },
  ),
  DRAINING: kind(Code.Unavailable, "This process is shutting down. Retry: another process will respond.", {
    retryAfterSeconds: 1,
  }),
  WATCH_ENDED: kind(
    Code.Unavailable,
    "The watch has reached its limit of ten minutes. Watch again with the cursor of its last message.",
    { retryAfterSeconds: 0, metadata: ["cursor"] },
  ),
  CHAIN_REJECTED: kind(
    Code.FailedPrecondition,
    "The chain refused the operation permanently. The metadata has its error.",
    { metadata: ["chainError"] },
  ),
  DEADLINE: kind(
    Code.DeadlineExceeded,
    "The call's deadline has passed. The operation continues; read its state by its id.",
  ),
  INTERNAL: kind(
    Code.Internal,
    "The service failed. Its log has the cause under the request id of this reply.",
    {
      metadata: ["requestId"],
    },
  ),
} as const satisfies Record<string, ErrorKind>;

/** A reason in the catalogue. */
export type ErrorReason = keyof typeof ERROR_CATALOGUE;

function kind(code: Code, meaning: string, extra: Omit<ErrorKind, "code" | "meaning"> = {}): ErrorKind {
  return { code, meaning, ...extra };
}
