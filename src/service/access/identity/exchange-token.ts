import { createLocalJWKSet, type LocalJWKSet } from "jose";
import type { AuditOrigin } from "../../audit/audit-event.ts";
import type { Coordination } from "../../platform/coordination/coordination.ts";
import { RecentMap } from "../../platform/coordination/recent-map.ts";
import { ServiceError } from "../../platform/errors/service-error.ts";
import type { Idempotency } from "../../platform/idempotency/idempotency.ts";
import type { Queryable } from "../../platform/store/database.ts";
import { addressBlock } from "../address-block.ts";
import type { Budget } from "../allowances/allowance.ts";
import type { SessionScope } from "../caller.ts";
import type { ProofCheck } from "../dpop/verify-proof.ts";
import { rateLimited } from "../rate-limiter.ts";
import { originNotAllowed } from "../web-origins.ts";
import { findIdentityProvider, type IdentityProvider } from "./identity-providers.ts";
import type { KeySets } from "./key-sets.ts";
import { readKeySet } from "./read-key-set.ts";
import { readUncheckedToken, tokenInvalid, verifyIdToken } from "./verify-id-token.ts";

/**
 * Creates the exchange of ID tokens for sessions. The issuer that a token names selects among the providers of the named
 * project alone, so a token of any other issuer is refused, whatever its `sub`. An unknown project is refused like an
 * unknown issuer. Exchanges are limited by address before anything is read, and by user after the token is verified.
 */
export function createTokenExchange(options: TokenExchangeOptions): TokenExchange {
  const { db, networks, keySets, checkProof, createSession, coordination, now = Date.now } = options;
  const ofAddress = coordination.buckets("exchange:address", PER_ADDRESS);
  const ofUser = coordination.buckets("exchange:user", PER_USER);
  const pinned = new RecentMap<string, LocalJWKSet>(PINNED_MAX_COUNT);

  async function keysOf(provider: IdentityProvider, kid: string | undefined): Promise<LocalJWKSet> {
    if (provider.keySet !== undefined) {
      const known = pinned.get(provider.id) ?? createLocalJWKSet(readKeySet(provider.keySet));
      pinned.set(provider.id, known);
      return known;
    }
    const found = await keySets.find({ id: provider.id, url: provider.keySetUrl ?? "" }, kid);
    if (found !== undefined) return found;
    throw new ServiceError(
      "IDENTITY_PROVIDER_UNAVAILABLE",
      "the keys of the token's issuer cannot be read now",
    );
  }

  return async ({ projectId, idToken, call }) => {
    const { origin } = call;
    await take(
      ofAddress,
      PER_ADDRESS,
      addressBlock(origin.address ?? ""),
      "too many exchanges from this address",
    );
    const { issuer, kid } = readUncheckedToken(idToken);
    const provider = await findIdentityProvider(db, networks, { projectId, issuer });
    if (provider === undefined)
      throw tokenInvalid("issuer", "the project has no identity provider with the token's issuer");
    checkOrigin(provider, call);
    const keys = await keysOf(provider, kid);
    const { userReference, issuedAt } = await verifyIdToken(idToken, provider, keys, now());
    await take(ofUser, PER_USER, `${projectId} ${userReference}`, "too many exchanges for this user");
    const thumbprint = await boundTo(provider, call);
    return createSession({
      projectId,
      providerId: provider.id,
      network: provider.network,
      userReference,
      scopes: provider.scopes,
      origins: provider.origins,
      budget: provider.budget,
      lifetimeSeconds: provider.sessionSeconds,
      proofKeyThumbprint: thumbprint,
      tokenIssuedAt: issuedAt,
      idempotency: call.idempotency,
      origin: { ...origin, actor: `idp:${provider.id}` },
    });
  };

  function checkOrigin({ origins }: IdentityProvider, { page, responseHeader }: ExchangeCall): void {
    if (page === undefined) return;
    if (!origins.includes(page)) throw originNotAllowed(page);
    responseHeader.set("access-control-allow-origin", page);
  }

  async function boundTo(
    { allowsUnbound }: IdentityProvider,
    call: ExchangeCall,
  ): Promise<string | undefined> {
    const { proof, method, url } = call;
    if (proof === undefined && allowsUnbound) return undefined;
    const checked = await checkProof({
      proof,
      method,
      url,
      token: undefined,
      thumbprint: undefined,
      nowMs: now(),
    });
    return checked.thumbprint;
  }
}

/**
 * Exchanges an ID token for a session. Throws RATE_LIMITED, TOKEN_INVALID, IDENTITY_PROVIDER_UNAVAILABLE, PROOF_INVALID,
 * PROOF_NONCE_REQUIRED, ORIGIN_NOT_ALLOWED and the errors of creating a session.
 */
export type TokenExchange = (exchange: {
  readonly projectId: string;
  readonly idToken: string;
  readonly call: ExchangeCall;
}) => Promise<ExchangedSession>;

/** The facts about the call. */
export interface ExchangeCall {
  readonly origin: Omit<AuditOrigin, "actor">;
  readonly idempotency: Idempotency | undefined;
  /** The header `origin`; undefined for a call that no page makes. */
  readonly page: string | undefined;
  /** Receives the header that lets the page read the reply. */
  readonly responseHeader: Headers;
  /** The header `DPoP`. */
  readonly proof: string | undefined;
  readonly method: string;
  readonly url: string;
}

/** A session to create for a verified user. */
export interface SessionOfUser {
  readonly projectId: string;
  readonly providerId: string;
  readonly network: string;
  readonly userReference: string;
  readonly scopes: readonly SessionScope[];
  readonly origins: readonly string[];
  /** One for all sessions that the user gets by the provider. */
  readonly budget: Budget | undefined;
  readonly lifetimeSeconds: number;
  /** Undefined for a session that needs no proofs. */
  readonly proofKeyThumbprint: string | undefined;
  /** By the provider's clock. */
  readonly tokenIssuedAt: Date;
  readonly idempotency: Idempotency | undefined;
  readonly origin: AuditOrigin;
}

/** The created session. */
export interface ExchangedSession {
  readonly id: string;
  /** Undefined for a repeated call. */
  readonly token: string | undefined;
  readonly userReference: string;
  readonly expiresAt: Date;
}

/** Dependencies of {@link createTokenExchange}. */
export interface TokenExchangeOptions {
  readonly db: Queryable;
  /** The served networks. */
  readonly networks: readonly string[];
  readonly keySets: KeySets;
  readonly checkProof: ProofCheck;
  readonly createSession: (session: SessionOfUser) => Promise<ExchangedSession>;
  readonly coordination: Pick<Coordination, "buckets">;
  /** The wall clock in milliseconds. Default: the clock of the process. */
  readonly now?: () => number;
}

/** Many users may share an address, and each exchanges a token once an hour or so. */
const PER_ADDRESS = { burstCount: 100, perSecond: 5 };
/** A user with several devices. */
const PER_USER = { burstCount: 20, perSecond: 1 / 60 };
const PINNED_MAX_COUNT = 1_000;

async function take(
  buckets: ReturnType<Coordination["buckets"]>,
  { burstCount, perSecond }: typeof PER_ADDRESS,
  subject: string,
  what: string,
): Promise<void> {
  const { isAllowed, waitMs } = await buckets.take(subject);
  if (isAllowed) return;
  const retryAfterMs = Math.max(1, Math.ceil(waitMs));
  const resetMs = retryAfterMs + Math.ceil(((burstCount - 1) * 1_000) / perSecond);
  throw rateLimited({ isAllowed, limitCount: burstCount, remainingCount: 0, retryAfterMs, resetMs }, what);
}
