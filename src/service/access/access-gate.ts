import { createHash, timingSafeEqual } from "node:crypto";
import type { HandlerContext } from "@connectrpc/connect";
import type { AuditOrigin } from "../audit/audit-event.ts";
import { invalidField, ServiceError } from "../platform/errors/service-error.ts";
import type { Secret } from "../platform/telemetry/secret.ts";
import { addressBlock } from "./address-block.ts";
import { isConfined } from "./allowances/allowance.ts";
import { type Caller, hasScope, type ProjectCaller, setCaller } from "./caller.ts";
import type { ProofCheck } from "./dpop/verify-proof.ts";
import { isAdminKeyForm, isApiKeyForm, isSessionForm } from "./keys/api-key.ts";
import { keyOf, sentKey, usable, usableSession } from "./keys/sent-key.ts";
import type { AdminKeyLookup, ApiKeyLookup, KnownApiKey } from "./keys/stored-keys.ts";
import { type CostClassName, listsAnyNetwork, methodPolicy } from "./method-policy.ts";
import { createRefusedKeys, limitCall, type RateLimiter, type RefusedKeys } from "./rate-limiter.ts";
import type { KnownSession, SessionLookup } from "./stored-sessions.ts";
import { setStreamStanding } from "./stream-leases.ts";
import { ANY_ORIGIN, checkOrigin } from "./web-origins.ts";

/**
 * Checks whether a caller may call a method, by the method's policy in the contract and before the body is read. Stores
 * the caller in the context for `callerOf`. Checks in this order: key or session, address, origin, network, scope, reach,
 * rate. Lets a page read the reply if its origin is one of its session's or key's. Throws ServiceError MISSING_KEY,
 * INVALID_KEY, REVOKED_KEY, EXPIRED_KEY, SESSION_REVOKED, SESSION_EXPIRED, ADDRESS_NOT_ALLOWED, ORIGIN_NOT_ALLOWED,
 * KEY_IN_BROWSER, NETWORK_MISMATCH, NETWORK_DISABLED, SCOPE_MISSING, OUT_OF_REACH, ADMIN_ONLY, ROOT_KEY_ONLY,
 * RATE_LIMITED, VALIDATION if the method needs `x-network` and the call has none, and any error of `beginTrace`. A session
 * that is bound to a key of the device also needs a proof, which is verified before the rate counts and noted as used
 * after it: PROOF_INVALID, PROOF_NONCE_REQUIRED.
 */
export function createAccessGate(options: AccessGateOptions): (call: GatedCall) => void | Promise<void> {
  const { limiter, beginTrace, listedNetworks = options.networks, now = () => performance.now() } = options;
  const { networkLimiters = new Map<string, RateLimiter<CostClassName>>() } = options;
  const { sessionLookup = NO_SESSIONS, checkProof = REFUSES_PROOFS } = options;
  const refusedKeys = createRefusedKeys(limiter, now);
  const keeper = { ...options, sessionLookup, checkProof, listedNetworks, networkLimiters, now, refusedKeys };
  return (call) => {
    const trace = beginTrace(call);
    const admitted = admitKnown(call, trace, keeper);
    const limit = (caller: Caller) => {
      setCaller(call.values, caller);
      if (call.method.methodKind !== "unary") noteStanding(caller, call, trace, keeper);
      const own = caller.kind === "project" ? networkLimiters.get(caller.network) : undefined;
      return limitCall(own ?? limiter, methodPolicy(call.method).costClass, caller, trace.address, call);
    };
    if (admitted === undefined) return admit(call, trace, keeper, limit);
    return needsProof(admitted) ? admitProved(admitted, call, trace, keeper, limit) : limit(admitted);
  };
}

/** The parts of a call that the gate reads, and the response headers where it writes the remaining budget. */
export type GatedCall = Pick<HandlerContext, "method" | "requestHeader" | "responseHeader" | "values"> &
  /** What a proof is for. Absent for a request that no session may make. */
  Partial<Pick<HandlerContext, "requestMethod" | "url" | "protocolName">>;

/** The facts about a call besides its key. */
export interface CallTrace {
  readonly requestId: string;
  readonly address: string;
  /** The `traceparent` of the call's span; undefined if it is not traced. */
  readonly traceParent?: string | undefined;
}

export interface AccessGateOptions {
  readonly lookup: Pick<ApiKeyLookup, "find" | "recall">;
  /** Default: no session is known. */
  readonly sessionLookup?: Pick<SessionLookup, "find" | "recall">;
  /** Checks the proofs of sessions that are bound to a key of the device. Default: such sessions are refused. */
  readonly checkProof?: ProofCheck;
  readonly adminLookup: Pick<AdminKeyLookup, "find">;
  readonly limiter: RateLimiter;
  /** The limiters of the calls with a project's key, by its network. Default: {@link limiter} for all of them. */
  readonly networkLimiters?: ReadonlyMap<string, RateLimiter<CostClassName>>;
  /** If undefined, admin methods accept only named admin keys. */
  readonly adminApiKey: Secret | undefined;
  /** The served networks, at least one. */
  readonly networks: readonly string[];
  /** Networks that an operator's lists may name, even if they are no longer served. Default: the served ones. */
  readonly listedNetworks?: readonly string[];
  /** Called once for each call, before any check. May add to the call's context, or throw to refuse the call. */
  readonly beginTrace: (call: GatedCall) => CallTrace;
  /** A monotonic clock in milliseconds. Default: the clock of the process. */
  readonly now?: () => number;
}

const NO_SESSIONS: Pick<SessionLookup, "find" | "recall"> = {
  find: async () => undefined,
  recall: () => undefined,
};

const REFUSES_PROOFS: ProofCheck = async () => {
  throw new ServiceError("PROOF_INVALID", "this server checks no proofs", { metadata: { fault: "missing" } });
};

type Gatekeeper = Required<AccessGateOptions> & { readonly refusedKeys: RefusedKeys };

/**
 * Admits a call synchronously if its method is public or its key is cached as valid, as for most calls. Otherwise
 * returns undefined.
 */
function admitKnown(call: GatedCall, trace: CallTrace, keeper: Gatekeeper): Caller | undefined {
  const { access } = methodPolicy(call.method);
  // The method itself verifies an ID token, after its body is read.
  if (access === "idToken") return { kind: "anonymous", network: networkOf(call, keeper) };
  if (access === "public") {
    if (tellsByKey(call, keeper) || isPageWithKey(call)) return undefined;
    return { kind: "anonymous", network: networkOf(call, keeper) };
  }
  if (access !== "project") return undefined;
  const text = sentKey(call.requestHeader) ?? "";
  const key = lookupFor(text, keeper).recall(text);
  return key && ownerOf(key, call, trace, keeper);
}

/** Counts a call against the rate of its caller. Throws RATE_LIMITED. */
type Limit = (caller: Caller) => Promise<void> | undefined;

/** Admits a call after looking up its key in the database. A refused key counts against the caller's address. */
async function admit(call: GatedCall, trace: CallTrace, keeper: Gatekeeper, limit: Limit): Promise<void> {
  const caller = await keeper.refusedKeys.guard(addressBlock(trace.address), async () => {
    const found = await authorize(call, trace, keeper);
    if (needsProof(found)) await prove(found, call, keeper, limit);
    return found;
  });
  if (!needsProof(caller)) await limit(caller);
}

function needsProof(caller: Caller): caller is ProjectCaller {
  return caller.kind === "project" && caller.session?.proofKeyThumbprint !== undefined;
}

/** Admits a known session after its proof. A refused proof counts against the caller's address, as a wrong key does. */
function admitProved(
  caller: ProjectCaller,
  call: GatedCall,
  trace: CallTrace,
  keeper: Gatekeeper,
  limit: Limit,
): Promise<void> {
  return keeper.refusedKeys.guard(addressBlock(trace.address), () => prove(caller, call, keeper, limit));
}

/**
 * Checks the proof of a call. The reply has a newer nonce if there is one. The rate counts once the proof fits, so that
 * nobody without the device's key uses it up, and before the proof is noted, so that it bounds the notes.
 */
async function prove(
  caller: ProjectCaller,
  call: GatedCall,
  { checkProof }: Gatekeeper,
  limit: Limit,
): Promise<void> {
  const { requestHeader, responseHeader, requestMethod = "", url = "" } = call;
  const { newNonce } = await checkProof({
    proof: requestHeader.get("dpop") ?? undefined,
    method: requestMethod,
    url,
    token: sentKey(requestHeader),
    thumbprint: caller.session?.proofKeyThumbprint,
    nowMs: Date.now(),
    beforeNoting: () => limit(caller),
  }).catch((error: unknown) => {
    // Over Connect, the headers of an error in a stream come after its head, where no fetch sees them.
    const nonce = error instanceof ServiceError ? error.headers["dpop-nonce"] : undefined;
    const isLate = call.protocolName === "connect" && call.method.methodKind !== "unary";
    if (nonce !== undefined && isLate) responseHeader.set("dpop-nonce", nonce);
    throw error;
  });
  if (newNonce !== undefined) responseHeader.set("dpop-nonce", newNonce);
}

/** Returns the look-up of a project's key or of a session. */
function lookupFor(
  text: string,
  { lookup, sessionLookup }: Gatekeeper,
): Pick<SessionLookup | ApiKeyLookup, "find" | "recall"> {
  return isSessionForm(text) ? sessionLookup : lookup;
}

/** Stores how to check the key of a stream again: like that of a new call, but without counting against a limit. */
function noteStanding(caller: Caller, call: GatedCall, trace: CallTrace, keeper: Gatekeeper): void {
  if (caller.kind === "anonymous") return;
  const keyId = caller.kind === "project" ? caller.apiKeyId : caller.origin.actor;
  // Pages of several origins may send one key, and each origin can lose the key alone.
  const page = call.requestHeader.get("origin") ?? "";
  setStreamStanding(call.values, {
    name: `${keyId} ${trace.address} ${page}`,
    keyId,
    projectId: caller.kind === "project" ? caller.projectId : undefined,
    userReference: caller.kind === "project" ? caller.session?.userReference : undefined,
    async check() {
      const { method, requestHeader, values } = call;
      // The stream's head is already sent.
      const again = { method, requestHeader, values, responseHeader: new Headers() };
      if (admitKnown(again, trace, keeper) === undefined) await authorize(again, trace, keeper);
    },
  });
}

/** True if a public method's call can only find its network through its optional key. */
function tellsByKey(call: GatedCall, { networks }: Gatekeeper): boolean {
  if (networks.length === 1 || networkNamed(call) !== undefined) return false;
  const text = sentKey(call.requestHeader) ?? "";
  return !methodPolicy(call.method).isOverNetworks && (isApiKeyForm(text) || isSessionForm(text));
}

/** True for a page's call that has a key or a token, although its method may need none. */
function isPageWithKey({ requestHeader }: GatedCall): boolean {
  const text = sentKey(requestHeader) ?? "";
  return requestHeader.get("origin") !== null && (isApiKeyForm(text) || isSessionForm(text));
}

/**
 * Lets a page read the reply to a public method's call if its origin is one of its session's or key's, even if that has
 * ended. Otherwise an app's page could read the replies of all methods but these.
 */
async function allowPage(
  { requestHeader, responseHeader }: GatedCall,
  { address }: CallTrace,
  keeper: Gatekeeper,
): Promise<void> {
  const text = keyOf(requestHeader);
  const found = await lookupFor(text, keeper).find(text, addressBlock(address));
  const origin = requestHeader.get("origin");
  if (found === undefined || origin === null) return;
  const origins = "allows" in found ? found.allowedOrigins : found.origins;
  if (origins.includes(origin) || origins.includes(ANY_ORIGIN))
    responseHeader.set("access-control-allow-origin", origin);
}

async function authorize(call: GatedCall, trace: CallTrace, keeper: Gatekeeper): Promise<Caller> {
  const policy = methodPolicy(call.method);
  if (policy.access === "public") {
    if (isPageWithKey(call)) await allowPage(call, trace, keeper);
    if (!tellsByKey(call, keeper)) return { kind: "anonymous", network: networkOf(call, keeper) };
    const text = keyOf(call.requestHeader);
    const { network } = await usableOwner(text, call, trace, keeper);
    if (!keeper.networks.includes(network)) throw networkDisabled(network);
    return { kind: "anonymous", network };
  }
  const found = await identify(call, policy.access === "admin", trace, keeper);
  if ("actor" in found) {
    if (policy.access === "admin" && policy.isRootOnly && found !== ROOT) {
      throw new ServiceError("ROOT_KEY_ONLY", "this call needs ADMIN_API_KEY itself");
    }
    const network = networkOf(call, keeper);
    const networks = network === "" ? keeper.networks : [network];
    return { kind: "admin", network, networks, origin: { ...found, ...trace } };
  }
  if (policy.access === "admin") throw new ServiceError("ADMIN_ONLY", "this call needs an admin key");
  return ownerOf(found, call, trace, keeper);
}

/**
 * Returns the project of a valid key, or the user of a valid session, as the caller. Throws if it does not permit this
 * address, origin, network or method.
 */
function ownerOf(
  key: KnownApiKey | KnownSession,
  call: GatedCall,
  trace: CallTrace,
  { networks }: Gatekeeper,
): Caller {
  const { id, projectId, network, scopes, allowance } = key;
  const { address } = trace;
  const allows = "allows" in key ? key.allows : undefined;
  if (allows !== undefined && !allows(address)) {
    throw new ServiceError("ADDRESS_NOT_ALLOWED", `the key may not be used from ${address}`, {
      metadata: { address },
    });
  }
  checkOrigin(key, call);
  const named = networkNamed(call);
  if (named !== undefined && named !== network) {
    throw new ServiceError("NETWORK_MISMATCH", `the key belongs to ${network}`, { metadata: { network } });
  }
  if (!networks.includes(network)) throw networkDisabled(network);
  const { scope, reach } = methodPolicy(call.method);
  if (scope === undefined || (scope !== "any" && !hasScope(scopes, scope))) {
    const lacking = scope === "propose" ? "sign" : String(scope);
    throw new ServiceError("SCOPE_MISSING", `the key lacks the scope ${lacking}`, {
      metadata: { scope: lacking },
    });
  }
  if (reach !== "own" && isConfined(allowance)) {
    throw new ServiceError(
      "OUT_OF_REACH",
      "the caller is confined to users or dWallets; use a project's own key",
    );
  }
  const caller = { kind: "project", projectId, apiKeyId: id, network, scopes, allowance } as const;
  if ("allows" in key) return { ...caller, origin: { actor: `key:${id}`, ...trace } };
  const { userReference, expiresAt, origins, proofKeyThumbprint } = key;
  if (expiresAt === null) throw new Error(`the session ${id} does not expire`);
  const session = {
    userReference,
    expiresAt,
    origins,
    proofKeyThumbprint: proofKeyThumbprint ?? undefined,
  };
  return { ...caller, session, origin: { actor: `session:${id}`, ...trace } };
}

function networkNamed({ requestHeader }: GatedCall): string | undefined {
  return requestHeader.get("x-network") ?? undefined;
}

/** The actor of a named admin key in the audit trail. */
type Operator = Pick<AuditOrigin, "actor">;

/** The actor of ADMIN_API_KEY in the audit trail. */
const ROOT: Operator = { actor: "admin" };

/** Looks up a key even if its address has sent wrong keys, because those must not block a valid key. */
async function identify(
  call: GatedCall,
  mayBeAdmin: boolean,
  trace: CallTrace,
  keeper: Gatekeeper,
): Promise<KnownApiKey | KnownSession | Operator> {
  const { adminLookup, adminApiKey } = keeper;
  const plaintext = keyOf(call.requestHeader);
  if (mayBeAdmin && adminApiKey !== undefined && isSame(plaintext, adminApiKey.reveal())) return ROOT;
  if (mayBeAdmin && isAdminKeyForm(plaintext)) {
    const { name } = usable(await adminLookup.find(plaintext, addressBlock(trace.address)));
    return { actor: `admin:${name}` };
  }
  return usableOwner(plaintext, call, trace, keeper);
}

/** Finds a valid project's key or session. */
async function usableOwner(
  text: string,
  { requestHeader, responseHeader }: GatedCall,
  { address }: CallTrace,
  keeper: Gatekeeper,
): Promise<KnownApiKey | KnownSession> {
  const from = addressBlock(address);
  if (!isSessionForm(text)) return usable(await keeper.lookup.find(text, from));
  const session = await keeper.sessionLookup.find(text, from);
  const origin = requestHeader.get("origin");
  // The page must learn that its session has ended.
  if (session !== undefined && origin !== null && session.origins.includes(origin))
    responseHeader.set("access-control-allow-origin", origin);
  return usableSession(session);
}

/** Returns the call's network. Empty if the method covers all networks and the call names none. */
function networkOf(call: GatedCall, { networks, listedNetworks }: Gatekeeper): string {
  const [only, ...others] = networks;
  if (only === undefined) throw new Error("no network is served");
  const named = networkNamed(call);
  const policy = methodPolicy(call.method);
  if (named === undefined) {
    if (others.length === 0) return only;
    if (policy.isOverNetworks) return "";
    throw invalidField("x-network", `this call needs the header: one of ${networks.join(", ")}`);
  }
  if (!(listsAnyNetwork(policy) ? listedNetworks : networks).includes(named)) throw networkDisabled(named);
  return named;
}

function networkDisabled(network: string): ServiceError {
  return new ServiceError("NETWORK_DISABLED", "this service does not serve that network", {
    // Echoes no more of the caller's text than a network's name can hold.
    metadata: { network: network.slice(0, 32) },
  });
}

/** Compares digests in constant time, so that the time reveals neither content nor length. */
function isSame(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/**
 * Forbids caches to store replies to a key's calls: sets `cache-control: no-store` and `vary` on every reply of a
 * method that is not public, including errors. Omits both over gRPC, which has no caches.
 */
export function keepPrivate(call: Pick<HandlerContext, "method" | "protocolName" | "responseHeader">): void {
  if (call.protocolName === "grpc" || methodPolicy(call.method).access === "public") return;
  call.responseHeader.set("cache-control", "no-store");
  call.responseHeader.append("vary", VARY);
}

/** The request headers that a reply depends on. */
const VARY = "authorization, x-api-key, x-network";
