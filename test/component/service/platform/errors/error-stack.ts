import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { ServiceImpl } from "@connectrpc/connect";
import sql from "sql-template-tag";
import { Admin } from "../../../../../gen/proto/tss/v1/admin_pb.ts";
import { Billing } from "../../../../../gen/proto/tss/v1/billing_pb.ts";
import { Events } from "../../../../../gen/proto/tss/v1/events_pb.ts";
import { Identity } from "../../../../../gen/proto/tss/v1/identity_pb.ts";
import { Onboarding } from "../../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Sessions } from "../../../../../gen/proto/tss/v1/sessions_pb.ts";
import { Sharing } from "../../../../../gen/proto/tss/v1/sharing_pb.ts";
import { Signing } from "../../../../../gen/proto/tss/v1/signing_pb.ts";
import { Users } from "../../../../../gen/proto/tss/v1/users_pb.ts";
import { Webhooks } from "../../../../../gen/proto/tss/v1/webhooks_pb.ts";
import { createAccessGate } from "../../../../../src/service/access/access-gate.ts";
import { SCOPES } from "../../../../../src/service/access/caller.ts";
import { clientAddressKey, createClientAddress } from "../../../../../src/service/access/client-address.ts";
import { createProofNonces } from "../../../../../src/service/access/dpop/proof-nonces.ts";
import { createSeenProofs } from "../../../../../src/service/access/dpop/seen-proofs.ts";
import { createProofCheck } from "../../../../../src/service/access/dpop/verify-proof.ts";
import { createTokenExchange } from "../../../../../src/service/access/identity/exchange-token.ts";
import { createIdentityService } from "../../../../../src/service/access/identity/identity-service.ts";
import { insertAdminKey } from "../../../../../src/service/access/keys/admin-keys.ts";
import {
  insertApiKey,
  type NewApiKey,
  revokeApiKey,
} from "../../../../../src/service/access/keys/api-keys.ts";
import {
  createAdminKeyLookup,
  createApiKeyLookup,
} from "../../../../../src/service/access/keys/stored-keys.ts";
import { keyedMethods } from "../../../../../src/service/access/method-policy.ts";
import { createRateLimiter, type RateLimits } from "../../../../../src/service/access/rate-limiter.ts";
import { createSessionLookup } from "../../../../../src/service/access/stored-sessions.ts";
import { createStreamLeases, type StreamBounds } from "../../../../../src/service/access/stream-leases.ts";
import { routeServices } from "../../../../../src/service/app/serve-contract.ts";
import { createBillingService } from "../../../../../src/service/billing/billing-service.ts";
import type { Deposits } from "../../../../../src/service/billing/deposits/deposits.ts";
import { createBackOffs } from "../../../../../src/service/chain/fullnodes/back-off.ts";
import { createCallerReads } from "../../../../../src/service/chain/fullnodes/caller-reads.ts";
import { createNetworkReader } from "../../../../../src/service/chain/reader.ts";
import type { TreasuryState } from "../../../../../src/service/chain/treasury/treasury-state.ts";
import { createEventsService } from "../../../../../src/service/events/events-service.ts";
import { createOnboardingService } from "../../../../../src/service/onboarding/onboarding-service.ts";
import { createParameterStore } from "../../../../../src/service/onboarding/parameter-store.ts";
import { createSharingService } from "../../../../../src/service/onboarding/sharing/sharing-service.ts";
import {
  createLocalCoordination,
  createLocalSignals,
} from "../../../../../src/service/platform/coordination/local-coordination.ts";
import type { Signals } from "../../../../../src/service/platform/coordination/signals.ts";
import { createErrorInterceptor } from "../../../../../src/service/platform/errors/error-interceptor.ts";
import {
  createErrorMapping,
  type FailureRecord,
} from "../../../../../src/service/platform/errors/error-mapping.ts";
import { createWarmValidateInterceptor } from "../../../../../src/service/platform/errors/validate-interceptor.ts";
import { createIdempotencyInterceptor } from "../../../../../src/service/platform/idempotency/idempotency.ts";
import { systemClock } from "../../../../../src/service/platform/lifecycle/clock.ts";
import { type Database, execute } from "../../../../../src/service/platform/store/database.ts";
import { Secret } from "../../../../../src/service/platform/telemetry/secret.ts";
import { createPresignQueue } from "../../../../../src/service/presigns/presign-queue.ts";
import { createReceiptsService } from "../../../../../src/service/signing/receipts-service.ts";
import { createSigningService } from "../../../../../src/service/signing/signing-service.ts";
import { createCheckHalf, type Verifier } from "../../../../../src/service/signing/verify/verifier.ts";
import { createProviderSessions } from "../../../../../src/service/users/provider-sessions.ts";
import {
  createSessionDeps,
  createSessionOfUser,
  insertSession,
  type NewSession,
} from "../../../../../src/service/users/sessions.ts";
import { createSessionsService } from "../../../../../src/service/users/sessions-service.ts";
import { createUsersService } from "../../../../../src/service/users/users-service.ts";
import { createEndpointSecrets } from "../../../../../src/service/webhooks/endpoint-secret.ts";
import { createWebhooksService } from "../../../../../src/service/webhooks/webhooks-service.ts";
import { requestIdKey } from "../../../../../src/transport/calls/request-id.ts";
import { registerService } from "../../../../../src/transport/calls/service-registration.ts";
import { peerAddressKey } from "../../../../../src/transport/http/node-http.ts";
import { startServer, type TransportServer } from "../../../../../src/transport/start-server.ts";
import { inlineVerifier } from "../../../../support/crypto/inline-verifier.ts";
import { openTestDatabase } from "../../../../support/database/database.ts";
import {
  type FakePayments,
  fakePayments,
  type TestPrices,
  testDeposits,
} from "../../../../support/database/deposits.ts";
import { flatPrices } from "../../../../support/database/prices.ts";
import { projectWith, TEST_OPERATOR, TEST_ORIGIN } from "../../../../support/database/rows.ts";
import { wholeAdminService } from "../../../../support/service/admin-service.ts";
import { silentLog } from "../../../../support/silent-log.ts";
import { createFakeFullnode, type FakeFullnode } from "./fake-fullnode.ts";

export const ADMIN_KEY = "an-admin-key-of-thirty-two-characters";
/** The message of the unexpected failure. */
export const INTERNAL_FAILURE = "ENOSPC: no space left, write '/var/lib/parameters'";
/** The message of a statement that fails because the server has ended its connection. */
export const DATABASE_FAILURE = "Connection terminated unexpectedly";
/** Limits that are small enough for a test to reach. */
export const BOUNDS = {
  dkgsPerDay: 2,
  openMaxCount: 2,
  priceMicroUsd: 10n,
  wrongHalvesCount: 1,
  usersMaxCount: 5,
  sessionsMaxCount: 2,
} as const;
const PRICES = flatPrices(BOUNDS.priceMicroUsd, BOUNDS.priceMicroUsd);

/** A project with a key of all scopes. */
export interface StackProject {
  readonly projectId: string;
  readonly key: string;
}

/** Parts of a server that may differ from the default. */
export interface ServeOptions {
  readonly limits?: RateLimits;
  readonly takesDeposits?: false;
  readonly sendsWebhooks?: false;
  /** Replaces parts of the deposits. */
  readonly deposits?: Partial<Deposits>;
  /** The maximum number of open streams. Default: more than a test opens. */
  readonly streams?: StreamBounds;
  /** The fullnode's reads for calls of one project. Default: more than any case needs. */
  readonly readsPerSecond?: number;
  /** False while the replica has not reached its network. Default true. */
  readonly isNetworkOpen?: false;
  /** Replaces the verifier. Default: verifies at once. */
  readonly verifier?: Pick<Verifier, "checkHalf">;
  /** Replaces methods of the real signing service. */
  readonly signing?: (real: ServiceImpl<typeof Signing>) => Partial<ServiceImpl<typeof Signing>>;
}

/** The whole service on a free port, as `app.ts` puts it together, over a fake fullnode and without background work. */
export interface ErrorStack {
  readonly url: string;
  readonly database: Database;
  readonly signals: Signals;
  readonly fullnode: FakeFullnode;
  /** The deposit address. It has no prices at first. */
  readonly chain: FakePayments;
  readonly deposits: Deposits;
  /** The prices at which deposits are credited. */
  readonly prices: TestPrices;
  /** The digest of the only protocol parameters. */
  readonly parametersSha256: string;
  readonly failures: readonly FailureRecord[];
  /** The plaintext of every created key. */
  readonly keys: readonly string[];
  newProject(creditMicroUsd?: bigint): Promise<StackProject>;
  /** A named admin key. */
  newAdminKey(name: string): Promise<string>;
  /** Creates a session; `lifetimeSeconds` may be negative. */
  newSession(session: Partial<NewSession> & { projectId: string; isRevoked?: boolean }): Promise<string>;
  newKey(key: Partial<NewApiKey> & { projectId: string; isRevoked?: boolean }): Promise<string>;
  /** Runs `during` while a dependency of each call fails with this message. Default: an unexpected failure. */
  broken<T>(during: () => Promise<T>, failure?: string): Promise<T>;
  /** Starts another server on the same parts; it closes with the stack. */
  serve(options?: ServeOptions): Promise<TransportServer>;
  close(): Promise<void>;
}

const UNLIMITED = perSecond(0);

/** The Treasury of a network without objects. */
const NO_TREASURY: TreasuryState = {
  ika: 0n,
  sui: 0n,
  version: 1n,
  isPaused: false,
  operators: [],
  adminCapId: "0x5",
  pauser: undefined,
  recovery: undefined,
  adminOffer: undefined,
  successor: undefined,
  announcedDWalletIds: [],
};

/** The same rate for every class; 0 does not limit. */
export function perSecond(count: number, burstSeconds = 1): RateLimits {
  const each = { read: count, write: count, chain: count, verify: count, stream: count };
  return { perSecond: { ...each, refusedKey: 0, open: 0 }, burstSeconds };
}

/** Starts the stack on a database of its own. */
export async function startErrorStack(): Promise<ErrorStack> {
  const database = await openTestDatabase();
  const folder = mkdtempSync(path.join(tmpdir(), "errors-"));
  const signals = createLocalSignals();
  const fullnode = createFakeFullnode();
  const { reader, network } = fullnode;
  const parameterStore = createParameterStore(folder);
  const { sha256 } = await parameterStore.put(fullnode.networkKeyId, 0, new Uint8Array(1_000));
  const failures: FailureRecord[] = [];
  const keys: string[] = [];
  const servers: TransportServer[] = [];
  let failingWith: string | undefined;

  const parameters = {
    ready() {
      if (failingWith !== undefined) throw new Error(failingWith);
      return [];
    },
    start() {},
    stop: async () => {},
  };
  const lookup = createApiKeyLookup({ database, log: silentLog, signals });
  const sessionLookup = createSessionLookup({ database, log: silentLog, signals });
  const sessions = createSessionDeps({
    database,
    lookup: sessionLookup,
    maxCount: BOUNDS.sessionsMaxCount,
    usersMaxCountOf: () => BOUNDS.usersMaxCount,
  });
  const adminLookup = createAdminKeyLookup({ database, log: silentLog });
  const errors = createErrorMapping((failure) => failures.push(failure));
  const onboardingDepsWith = (readsPerSecond: number) => {
    const callerReads = createCallerReads({
      network: "localnet",
      limits: { projectPerSecond: readsPerSecond, totalPerSecond: 1_000 },
      // The clock stands still, so used tokens are not refilled.
      coordination: createLocalCoordination(() => 0),
      backOffs: createBackOffs(systemClock),
    });
    return {
      database,
      network,
      reader,
      signals,
      parameters,
      parameterStore,
      readerFor: (projectId: string) => createNetworkReader({ ...network, ...callerReads(projectId) }),
      dkgsPerDay: BOUNDS.dkgsPerDay,
      usersMaxCount: BOUNDS.usersMaxCount,
      dkgPriceMicroUsd: PRICES.dkgMicroUsd,
      importPriceMicroUsd: PRICES.importMicroUsd,
      paysImports: async () => true,
      refundsPerDay: 1,
      sharePriceMicroUsd: PRICES.shareMicroUsd,
    };
  };
  const wrongHalvesSize = { burstCount: BOUNDS.wrongHalvesCount, perSecond: 0.01 };
  const wrongHalves = createLocalCoordination().buckets("wrong halves", wrongHalvesSize);
  const wrongHalvesOfUser = createLocalCoordination().buckets("wrong halves:user", wrongHalvesSize);
  const signingWith = (verifier: Pick<Verifier, "checkHalf">) =>
    createSigningService({
      clock: systemClock,
      database,
      signals,
      prices: PRICES,
      openMaxCount: BOUNDS.openMaxCount,
      checkHalf: createCheckHalf({ clock: systemClock, verifier, wrongHalves, wrongHalvesOfUser }),
      reservationTtlMs: 60_000,
      // Nothing fills the pool, so no call waits for it.
      presigns: createPresignQueue({ clock: systemClock, signals, waitingMaxCount: 0 }),
      // A watch ends as soon as it has sent the request's state.
      watchPace: { lifetimeMs: 0 },
    });
  const chain = fakePayments();
  const prices: TestPrices = { SUI: undefined, IKA: undefined };
  const deposits = testDeposits(database, prices, { reader: chain });
  const priced = { database, signals, clock: systemClock, prices: PRICES };
  const accounts = {
    accounts: { database, lookup },
    adminKeys: { database, lookup: adminLookup },
    receipts: createReceiptsService({ database, coordination: createLocalCoordination() }),
    sessions,
  };
  const sweepsOf = () => ({ destination: undefined, minValueMicroUsd: 0n });
  const webhookSecrets = createEndpointSecrets(new Secret("5e".repeat(32)));
  const webhooks = { database, signals, secrets: webhookSecrets, allowsInside: false };
  // A watch ends as soon as it has caught up.
  const events = { database, signals, clock: systemClock, watchPace: { lifetimeMs: 0 } };
  const networkWork = { database, signals: { ...createLocalSignals(), notify() {} }, sweepsOf };
  const admin = wholeAdminService({
    ...accounts,
    chain: {
      network: { ...network, gasOwnerAddress: network.senderAddress },
      reader: { gasCoins: async () => [], addressBalance: async () => 0n },
      treasury: {
        state: async () => {
          await reader.networkKey();
          return NO_TREASURY;
        },
        ceilings: async () => [],
      },
    },
    presigns: {
      network: "localnet",
      configured: [],
      newestNetworkEncryptionKeyId: async () => (await reader.networkKey()).id,
      lowWaterCount: 1,
      highWaterCount: 2,
      signals,
    },
  });
  const services = [
    Onboarding,
    Sharing,
    Signing,
    Billing,
    Users,
    Sessions,
    Events,
    Webhooks,
    Identity,
    Admin,
  ];
  const coordination = createLocalCoordination(undefined, true);
  const checkProof = createProofCheck({
    nonces: createProofNonces(new Uint8Array(32)),
    seenProofs: createSeenProofs({ db: database, coordination }),
  });
  const exchangeToken = createTokenExchange({
    db: database,
    networks: ["localnet"],
    // No provider's URL answers.
    keySets: { find: async () => undefined },
    checkProof,
    createSession: (session) => createSessionOfUser(sessions, session),
    coordination,
  });
  const keyed = keyedMethods(services);
  const interceptors = [
    createErrorInterceptor(errors),
    createWarmValidateInterceptor(services),
    createIdempotencyInterceptor((method) => keyed.has(method)),
  ];
  const clientAddress = createClientAddress([]);

  async function serve(options: ServeOptions = {}) {
    const {
      limits = UNLIMITED,
      takesDeposits,
      sendsWebhooks,
      verifier = inlineVerifier,
      signing: replace,
    } = options;
    const { streams = { perKey: 100, perProject: 100, perAddress: 100 } } = options;
    const onboardingDeps = onboardingDepsWith(options.readsPerSecond ?? 1_000);
    const onboarding = createOnboardingService(onboardingDeps);
    const sharing = createSharingService(onboardingDeps);
    const signing = signingWith(verifier);
    const billing = createBillingService(
      takesDeposits === false ? priced : { ...priced, deposits: { ...deposits, ...options.deposits } },
    );
    const server = await startServer({
      host: "127.0.0.1",
      port: 0,
      errors,
      services:
        options.isNetworkOpen === false
          ? routeServices({
              servicesOf: () => undefined,
              ...accounts,
              events,
              webhooks,
              exchangeToken,
              identityProviders: { database, sessions: createProviderSessions(signals), allowsInside: false },
              networkWork,
            })
          : [
              registerService(Onboarding, onboarding),
              registerService(Sharing, sharing),
              registerService(Signing, { ...signing, ...replace?.(signing) }),
              registerService(Billing, billing),
              registerService(Users, createUsersService(sessions)),
              registerService(Sessions, createSessionsService(sessions)),
              registerService(Events, createEventsService(events)),
              registerService(
                Webhooks,
                createWebhooksService(
                  sendsWebhooks === false ? { ...webhooks, secrets: undefined } : webhooks,
                ),
              ),
              registerService(Identity, createIdentityService(exchangeToken)),
              registerService(Admin, admin),
            ],
      interceptors: [...interceptors, createStreamLeases({ bounds: streams }).interceptor],
      gate: createAccessGate({
        lookup,
        sessionLookup,
        checkProof,
        adminLookup,
        adminApiKey: new Secret(ADMIN_KEY),
        networks: ["localnet"],
        limiter: createRateLimiter({ limits }),
        beginTrace({ values, requestHeader }) {
          const address = clientAddress(values.get(peerAddressKey), requestHeader);
          values.set(clientAddressKey, address);
          return { requestId: values.get(requestIdKey), address };
        },
      }),
    });
    servers.push(server);
    return server;
  }

  const newKey: ErrorStack["newKey"] = async ({ isRevoked = false, ...key }) => {
    const { id, plaintext } = await insertApiKey(database, TEST_ORIGIN, {
      name: "key",
      scopes: SCOPES,
      ...key,
    });
    if (isRevoked) await revokeApiKey({ db: database, lookup }, TEST_OPERATOR, id);
    keys.push(plaintext);
    return plaintext;
  };
  const newSession: ErrorStack["newSession"] = async ({ isRevoked = false, ...session }) => {
    const { id, token = "" } = await database.transaction((db) =>
      insertSession(sessions, db, TEST_ORIGIN, {
        ...({ network: "localnet", userReference: "user", scopes: ["read"] } as const),
        ...session,
      }),
    );
    if (isRevoked) await execute(database, sql`UPDATE session SET revoked_at = now() WHERE id = ${id}`);
    keys.push(token);
    return token;
  };
  const { url } = await serve();
  return {
    url,
    database,
    signals,
    fullnode,
    chain,
    deposits,
    prices,
    failures,
    keys,
    parametersSha256: sha256,
    newKey,
    newSession,
    serve,
    async newAdminKey(name) {
      const { plaintext } = await insertAdminKey(database, TEST_ORIGIN, { name });
      keys.push(plaintext);
      return plaintext;
    },
    async newProject(creditMicroUsd = 1_000n) {
      const projectId = await projectWith(database, creditMicroUsd);
      return { projectId, key: await newKey({ projectId }) };
    },
    async broken(during, failure = INTERNAL_FAILURE) {
      failingWith = failure;
      return during().finally(() => {
        failingWith = undefined;
      });
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
      await signals.close();
      await database.close();
      rmSync(folder, { recursive: true });
    },
  };
}
