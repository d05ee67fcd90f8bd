import type { DescService } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { Account } from "../../../gen/proto/tss/v1/account_pb.ts";
import { Admin } from "../../../gen/proto/tss/v1/admin_pb.ts";
import { Billing } from "../../../gen/proto/tss/v1/billing_pb.ts";
import { Events } from "../../../gen/proto/tss/v1/events_pb.ts";
import { Identity } from "../../../gen/proto/tss/v1/identity_pb.ts";
import { Onboarding } from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Operations } from "../../../gen/proto/tss/v1/operations_pb.ts";
import { Receipts } from "../../../gen/proto/tss/v1/receipts_pb.ts";
import { Sessions } from "../../../gen/proto/tss/v1/sessions_pb.ts";
import { Sharing } from "../../../gen/proto/tss/v1/sharing_pb.ts";
import { Signing } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { Users } from "../../../gen/proto/tss/v1/users_pb.ts";
import { Webhooks } from "../../../gen/proto/tss/v1/webhooks_pb.ts";
import { networkTraits } from "../../protocol/chain/network-traits.ts";
import { untilClosing } from "../../transport/calls/closing-signal.ts";
import { registerService, type ServiceRegistration } from "../../transport/calls/service-registration.ts";
import type { PlainRoute } from "../../transport/http/plain-routes.ts";
import { networkOf } from "../access/caller.ts";
import { openProofNonces } from "../access/dpop/proof-nonces.ts";
import { createSeenProofs } from "../access/dpop/seen-proofs.ts";
import { createProofCheck, type ProofCheck } from "../access/dpop/verify-proof.ts";
import { createTokenExchange, type TokenExchange } from "../access/identity/exchange-token.ts";
import { createKeySetFetch } from "../access/identity/fetch-key-set.ts";
import {
  createIdentityProviderCalls,
  createIdentityService,
  type IdentityProviderCallsDeps,
} from "../access/identity/identity-service.ts";
import { createKeySets } from "../access/identity/key-sets.ts";
import { generateApiKey } from "../access/keys/api-key.ts";
import {
  developmentBanner,
  readDevelopmentKeys,
  writeDevelopmentAccess,
} from "../access/keys/development-keys.ts";
import { createAdminKeyLookup, createApiKeyLookup } from "../access/keys/stored-keys.ts";
import { createSessionLookup } from "../access/stored-sessions.ts";
import type { Config } from "../config/config.ts";
import type { SweepConfig } from "../config/deposits.ts";
import { createEventsService, type EventsServiceDeps } from "../events/events-service.ts";
import {
  type AccountCallsDeps,
  type AdminKeyCallsDeps,
  createAccountCalls,
  createAdminKeyCalls,
} from "../operator/calls/account-calls.ts";
import { createNetworkCalls, type NetworkCallsDeps } from "../operator/calls/network-calls.ts";
import { createPriceCalls } from "../operator/calls/price-calls.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import { systemClock } from "../platform/lifecycle/clock.ts";
import { createReceiptsService } from "../signing/receipts-service.ts";
import { createProviderSessions } from "../users/provider-sessions.ts";
import { createSessionDeps, createSessionOfUser, type SessionDeps } from "../users/sessions.ts";
import { createSessionsService } from "../users/sessions-service.ts";
import { createUsersService } from "../users/users-service.ts";
import { consoleRoutes, openApiRoute } from "../web/web-routes.ts";
import { createEndpointSecrets } from "../webhooks/endpoint-secret.ts";
import { createWebhooksService, type WebhooksServiceDeps } from "../webhooks/webhooks-service.ts";
import type { Networks } from "./open-networks.ts";
import type { NetworkServices } from "./serve-network.ts";
import { startApiServer } from "./servers.ts";
import type { Service } from "./service.ts";

/** Serves the contract of all networks on one port. */
export async function serveContract(
  service: Service,
  networks: Networks,
  probes: readonly PlainRoute[],
): Promise<{ readonly url: string; readonly banner: readonly string[] }> {
  const { config, database, coordination, log } = service;
  const { signals } = coordination;
  const { dataDirectory } = config;
  const [first] = config.networks;
  const isDevelopment = config.databaseUrl === undefined && networkTraits(first.name).isDevelopment;
  const keys = isDevelopment
    ? await readDevelopmentKeys(database, dataDirectory, config.adminApiKey)
    : undefined;
  const onLookup = (result: "hit" | "miss") => service.observe.onCache("api_key", result);
  const lookup = createApiKeyLookup({ database, signals, log, onLookup });
  const sessionLookup = createSessionLookup({ database, signals, log, onLookup });
  const adminLookup = createAdminKeyLookup({ database, signals, log });
  // The first look-up loads code that later ones need.
  await lookup.find(generateApiKey("localnet"));
  const pages = config.hasConsole ? consoleRoutes() : [];
  if (config.hasConsole && pages.length === 0) log.warn("the console is not built: run npm run build");
  const usersMaxCountOf = usersMaxCounts(config);
  const sessions = createSessionDeps({ database, lookup: sessionLookup, usersMaxCountOf });
  const checkProof = createProofCheck({
    nonces: await openProofNonces(database),
    seenProofs: createSeenProofs({ db: database, coordination }),
    publicUrls: config.publicUrls,
  });
  const services = routeServices({
    servicesOf: (name) => (name === "" ? networks.anyOpen() : networks.opened(name))?.services,
    accounts: { database, lookup },
    sessions,
    webhooks: {
      database,
      signals,
      secrets: config.webhookSecretHex && createEndpointSecrets(config.webhookSecretHex),
      allowsInside: config.allowsPrivateWebhooks,
    },
    events: { database, clock: service.clock, signals, untilClosing },
    exchangeToken: openTokenExchange(service, { sessions, checkProof }),
    identityProviders: {
      database,
      sessions: createProviderSessions(signals),
      allowsInside: config.allowsPrivateIdentity,
    },
    adminKeys: { database, lookup: adminLookup },
    receipts: createReceiptsService({ database, coordination }),
    networkWork: { database, signals, sweepsOf: (name) => sweepsOf(config, name) },
  });
  const { url } = await startApiServer(service, {
    services,
    lookup,
    sessionLookup,
    checkProof,
    adminLookup,
    adminApiKey: keys?.adminApiKey ?? config.adminApiKey,
    routes: [...probes, openApiRoute(), ...pages],
  });
  const consoleLines = pages.length > 0 ? [`console            ${url}/console`] : [];
  if (keys === undefined) return { url, banner: consoleLines };
  const fullnodeUrl = networks.opened(first.name)?.network.chain.publicFullnodeUrl ?? "";
  writeDevelopmentAccess(dataDirectory, { baseUrl: url, fullnodeUrl, keys });
  return { url, banner: developmentBanner(dataDirectory, fullnodeUrl, keys, consoleLines) };
}

/** Returns the maximum number of users of a project, by its network. */
function usersMaxCounts({ networks }: Config): (network: string) => number {
  const counts = new Map(networks.map(({ name, usersMaxCount }) => [name as string, usersMaxCount]));
  return (network) => counts.get(network) ?? 0;
}

/** Opens the exchange of ID tokens, with the keys of the providers. */
function openTokenExchange(
  { config, database, coordination, log }: Service,
  { sessions, checkProof }: { readonly sessions: SessionDeps; readonly checkProof: ProofCheck },
): TokenExchange {
  return createTokenExchange({
    db: database,
    networks: config.networks.map(({ name }) => name),
    keySets: createKeySets({
      fetch: createKeySetFetch({ allowsInside: config.allowsPrivateIdentity }),
      log,
    }),
    checkProof,
    createSession: (session) => createSessionOfUser(sessions, session),
    coordination,
  });
}

/** Returns how a configured network is swept. The gate admits only calls of configured networks. */
function sweepsOf({ networks }: Config, name: string): SweepConfig {
  const network = networks.find((one) => one.name === name);
  if (network === undefined) throw new Error(`the gate let ${name} through`);
  return network.sweeps;
}

/**
 * Implements all services of the contract: each call goes to the implementation of its network. Calls about accounts, users, sessions,
 * admin keys, the work of a network and the prices of coins need no chain and have one implementation. Other calls of a
 * network that is not open throw NETWORK_UNAVAILABLE.
 */
export function routeServices({ servicesOf, ...shared }: RoutedParts): ServiceRegistration[] {
  const of = (context: HandlerContext): NetworkServices => {
    const network = networkOf(context);
    const services = servicesOf(network);
    if (services !== undefined) return services;
    throw new ServiceError(
      "NETWORK_UNAVAILABLE",
      network === ""
        ? "no network is open on this replica yet"
        : `${network} is not open on this replica yet`,
      {
        metadata: { network },
      },
    );
  };
  return [
    registerService(
      Onboarding,
      route<typeof Onboarding>(Onboarding, (context) => of(context).onboarding),
    ),
    registerService(
      Sharing,
      route<typeof Sharing>(Sharing, (context) => of(context).sharing),
    ),
    registerService(
      Signing,
      route<typeof Signing>(Signing, (context) => of(context).signing),
    ),
    registerService(
      Billing,
      route<typeof Billing>(Billing, (context) => of(context).billing),
    ),
    registerService(
      Account,
      route<typeof Account>(Account, (context) => of(context).account),
    ),
    registerService(
      Operations,
      route<typeof Operations>(Operations, (context) => of(context).operations),
    ),
    registerService(Receipts, shared.receipts),
    registerService(Users, createUsersService(shared.sessions)),
    registerService(Sessions, createSessionsService(shared.sessions)),
    registerService(Events, createEventsService(shared.events)),
    registerService(Webhooks, createWebhooksService(shared.webhooks)),
    registerService(Identity, createIdentityService(shared.exchangeToken)),
    registerService(Admin, {
      ...route<typeof Admin>(Admin, (context) => of(context).admin),
      ...createAccountCalls(shared.accounts),
      ...createAdminKeyCalls(shared.adminKeys),
      ...createIdentityProviderCalls(shared.identityProviders),
      ...createNetworkCalls(shared.networkWork),
      ...createPriceCalls({ database: shared.networkWork.database, clock: systemClock }),
    }),
  ];
}

/** Dependencies of {@link routeServices}. */
export interface RoutedParts {
  /** The services of a network, or of any open one for an empty name. Undefined if it is not open. */
  readonly servicesOf: (network: string) => NetworkServices | undefined;
  readonly accounts: AccountCallsDeps;
  readonly sessions: SessionDeps;
  readonly events: EventsServiceDeps;
  readonly webhooks: WebhooksServiceDeps;
  readonly exchangeToken: TokenExchange;
  readonly adminKeys: AdminKeyCallsDeps;
  readonly receipts: ServiceImpl<typeof Receipts>;
  readonly identityProviders: IdentityProviderCallsDeps;
  readonly networkWork: NetworkCallsDeps;
}

type AnyImplementation = Readonly<Record<string, (request: never, context: HandlerContext) => unknown>>;

/** Implements each method by the implementation that `of` returns for the call's network. */
function route<S extends DescService>(
  service: S,
  of: (context: HandlerContext) => Partial<ServiceImpl<S>>,
): ServiceImpl<S> {
  const methods = service.methods.map(({ localName }) => [
    localName,
    (request: never, context: HandlerContext) =>
      (of(context) as unknown as AnyImplementation)[localName]?.(request, context),
  ]);
  return Object.fromEntries(methods) as ServiceImpl<S>;
}
