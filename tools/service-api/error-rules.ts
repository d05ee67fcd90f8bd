import type { ErrorReason } from "../../src/service/platform/errors/catalogue.ts";
import type { HttpBinding } from "../openapi/http-bindings.ts";
import type { DeclaredOptions } from "./declared-options.ts";

const HTTP_BODY = "google.api.HttpBody";

/** The facts that decide which failures an operation may have. */
export interface OperationFacts {
  readonly binding: HttpBinding;
  readonly options: DeclaredOptions;
}

type Rule = (facts: OperationFacts) => boolean;

const never: Rule = () => false;
const needsKey: Rule = ({ options }) => !["public", "id_token"].includes(options.access.value);
const isRoot: Rule = ({ options }) => options.access.value === "root";
const isAdmin: Rule = (facts) => facts.options.access.value === "admin" || isRoot(facts);
const isProject: Rule = (facts) => needsKey(facts) && !isAdmin(facts);
/** Whether the request has a field with one of these names. */
const has =
  (...names: readonly string[]): Rule =>
  ({ binding }) =>
    binding.method.input.fields.some(({ name }) => names.includes(name));
const takesIdToken = has("id_token");
const mayBeProved: Rule = (facts) => takesIdToken(facts) || isProject(facts);
const isKeyed: Rule = ({ options }) => options.idempotency.value === "keyed";
const isRead: Rule = ({ options }) => options.idempotency.value === "read";
const hasBody: Rule = ({ binding }) => binding.body !== "none";
const isStream: Rule = ({ binding }) =>
  binding.method.methodKind === "server_streaming" && binding.method.output.typeName !== HTTP_BODY;
const givesOctets: Rule = ({ binding }) => binding.method.output.typeName === HTTP_BODY;
const isOfDeposits: Rule = ({ binding }) => /^(GetDepositAddress|DeclareDeposit)$/.test(binding.method.name);
const createsSession = has("proof_key_thumbprint");
const reservesSignature = has("hash_scheme");
const adopts = has("session_digest");
const releases: Rule = ({ binding }) => binding.method.name === "ReleaseSign";
const shares = has("recipient_address");
/** Whether the call makes sure that a user exists. */
const mentionsUser: Rule = (facts) =>
  /^(CreateUser|GetDepositAddress)$/.test(facts.binding.method.name) ||
  (!isRead(facts) && has("user_reference")(facts));

/**
 * Where a reason can occur. Most reasons follow from the part of the request that they concern; a reason without a rule
 * can occur anywhere.
 */
const RULES: Partial<Record<ErrorReason, Rule>> = {
  MISSING_KEY: needsKey,
  INVALID_KEY: needsKey,
  REVOKED_KEY: needsKey,
  EXPIRED_KEY: needsKey,
  SESSION_REVOKED: isProject,
  SESSION_EXPIRED: isProject,
  ORIGIN_NOT_ALLOWED: isProject,
  KEY_IN_BROWSER: isProject,
  SESSION_TOO_WIDE: createsSession,
  TOO_MANY_SESSIONS: createsSession,
  NETWORK_MISMATCH: isProject,
  SCOPE_MISSING: isProject,
  ADDRESS_NOT_ALLOWED: isProject,
  ADMIN_ONLY: isAdmin,
  ROOT_KEY_ONLY: isRoot,
  ADMIN_KEY_NAME_TAKEN: isRoot,
  TOKEN_INVALID: takesIdToken,
  IDENTITY_PROVIDER_UNAVAILABLE: takesIdToken,
  PROOF_INVALID: mayBeProved,
  PROOF_NONCE_REQUIRED: mayBeProved,
  IDENTITY_PROVIDER_EXISTS: has("settings"),
  TOO_MANY_IDENTITY_PROVIDERS: has("settings"),
  ROUTE_NOT_FOUND: never,
  METHOD_NOT_ALLOWED: never,
  UNIMPLEMENTED: never,
  UNSUPPORTED_MEDIA_TYPE: hasBody,
  BODY_TOO_LARGE: hasBody,
  IDEMPOTENCY_KEY_REUSED: isKeyed,
  IDEMPOTENCY_IN_FLIGHT: isKeyed,
  UNSUPPORTED_ALGORITHM: has("signature_algorithm"),
  MESSAGE_TOO_LARGE: has("message"),
  BAD_SIGNATURE: has("signature", "user_output_signature"),
  WRONG_SENDER: has("sender_address"),
  MALFORMED_SIGN_MESSAGE: has("user_sign_message"),
  TOO_MANY_WRONG_HALVES: has("user_sign_message"),
  CHAIN_READS_EXHAUSTED: (facts) =>
    has("tx_digest", "encryption_key", "dwallet_id")(facts) &&
    !has("page_size")(facts) &&
    !reservesSignature(facts),
  VERIFICATION_BUSY: has("user_sign_message"),
  PARAMETERS_NOT_FOUND: has("sha256"),
  INSUFFICIENT_CREDIT: (facts) => reservesSignature(facts) || shares(facts) || has("amount_micro_usd")(facts),
  DWALLET_NOT_ACTIVE: (facts) => reservesSignature(facts) || adopts(facts) || shares(facts),
  DWALLET_TAKEN: (facts) => adopts(facts) || has("session_identifier")(facts),
  TOO_MANY_RESERVATIONS: has("hash_scheme", "user_sign_message"),
  ALGORITHM_NOT_ALLOWED: (facts) => reservesSignature(facts) || releases(facts),
  BUDGET_EXCEEDED: has("hash_scheme", "session_identifier", "recipient_address"),
  PRESIGN_POOL_EMPTY: reservesSignature,
  DATABASE_BEHIND_CHAIN: (facts) => reservesSignature(facts) || adopts(facts),
  WRONG_STATE: (facts) =>
    has("audit_event_id")(facts) ||
    facts.binding.method.name === "DeleteUser" ||
    (!isRead(facts) &&
      !reservesSignature(facts) &&
      has("dwallet_id", "sign_request_id", "overlap_seconds")(facts)),
  OUT_OF_REACH: isProject,
  USER_NOT_FOUND: (facts) => facts.binding.method.parent.name === "Users" && has("reference")(facts),
  USER_FROZEN: (facts) =>
    !isRead(facts) &&
    (releases(facts) ||
      has("user_reference", "user_sign_message", "user_output_signature", "hash_scheme")(facts)),
  USER_DELETED: mentionsUser,
  TOO_MANY_USERS: mentionsUser,
  STALE_NETWORK_KEY: has("session_identifier"),
  SESSION_REUSED: has("session_identifier"),
  QUOTA_EXCEEDED: has("session_identifier", "encryption_key", "session_digest", "recipient_address"),
  ENCRYPTION_KEY_NOT_FOUND: has("encryption_key_id", "recipient_address"),
  SUBJECT_NOT_FOUND: has("subject_id"),
  HOLDER_NOT_FOUND: ({ binding }) => /^(AcceptShare|RemoveHolder)$/.test(binding.method.name),
  TOO_MANY_HOLDERS: shares,
  ENCRYPTION_KEY_CONFLICT: has("encryption_key"),
  DEPOSITS_DISABLED: isOfDeposits,
  DEPOSIT_ADDRESS_PENDING: isOfDeposits,
  TOO_MANY_DEPOSIT_REFERENCES: ({ binding }) => binding.method.name === "GetDepositAddress",
  DEPOSIT_NOT_FOUND: has("tx_digest"),
  DEPOSIT_TAKEN: has("tx_digest"),
  PRICE_FEED_STALE: has("tx_digest"),
  WATCH_ENDED: isStream,
  RANGE_NOT_SATISFIABLE: givesOctets,
  CHAIN_REJECTED: (facts) =>
    reservesSignature(facts) ||
    (facts.options.access.value === "onboard" && facts.options.costClass.value === "chain"),
};

/** Whether calls of the operation can fail with this reason. `X_NOT_FOUND` concerns a field `x_id`. */
export function canOccur(reason: ErrorReason, facts: OperationFacts): boolean {
  const rule = RULES[reason];
  if (rule !== undefined) return rule(facts);
  const subject = /^(.+)_NOT_FOUND$/.exec(reason)?.[1];
  if (subject === undefined) return true;
  return has(`${subject.toLowerCase()}_id`)(facts);
}
