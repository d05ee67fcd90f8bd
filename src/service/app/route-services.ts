import type { DescService } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { Account } from "../../../gen/proto/tss/v1/account_pb.ts";
import { Admin } from "../../../gen/proto/tss/v1/admin_pb.ts";
import { Billing } from "../../../gen/proto/tss/v1/billing_pb.ts";
import { Identity } from "../../../gen/proto/tss/v1/identity_pb.ts";
import { Onboarding } from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Operations } from "../../../gen/proto/tss/v1/operations_pb.ts";
import { Sessions } from "../../../gen/proto/tss/v1/sessions_pb.ts";
import { Signing } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { Users } from "../../../gen/proto/tss/v1/users_pb.ts";
import { registerService, type ServiceRegistration } from "../../transport/calls/service-registration.ts";
import { networkOf } from "../access/caller.ts";
import type { TokenExchange } from "../access/identity/exchange-token.ts";
import {
  createIdentityProviderCalls,
  createIdentityService,
  type IdentityProviderCallsDeps,
} from "../access/identity/identity-service.ts";
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
import type { SessionDeps } from "../users/sessions.ts";
import { createSessionsService } from "../users/sessions-service.ts";
import { createUsersService } from "../users/users-service.ts";
import type { NetworkServices } from "./serve-network.ts";

/**
 * Implements {@link SERVICES}: each call goes to the implementation of its network. Calls about accounts, users, sessions,
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
    registerService(Users, createUsersService(shared.sessions)),
    registerService(Sessions, createSessionsService(shared.sessions)),
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

/** All services of the contract. */
export const SERVICES = [Onboarding, Signing, Billing, Account, Users, Sessions, Identity, Admin, Operations];

/** Dependencies of {@link routeServices}. */
export interface RoutedParts {
  /** The services of a network, or of any open one for an empty name. Undefined if it is not open. */
  readonly servicesOf: (network: string) => NetworkServices | undefined;
  readonly accounts: AccountCallsDeps;
  readonly sessions: SessionDeps;
  readonly exchangeToken: TokenExchange;
  readonly adminKeys: AdminKeyCallsDeps;
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
