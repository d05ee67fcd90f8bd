import type { ServiceImpl } from "@connectrpc/connect";
import type { Admin } from "../../../gen/proto/tss/v1/admin_pb.ts";
import { createIdentityProviderCalls } from "../../../src/service/access/identity/identity-service.ts";
import {
  type AccountCallsDeps,
  type AdminKeyCallsDeps,
  createAccountCalls,
  createAdminKeyCalls,
} from "../../../src/service/operator/calls/account-calls.ts";
import {
  type AdminServiceDeps,
  createAdminService,
} from "../../../src/service/operator/calls/admin-service.ts";
import { createNetworkCalls } from "../../../src/service/operator/calls/network-calls.ts";
import { createPriceCalls } from "../../../src/service/operator/calls/price-calls.ts";
import { createLocalSignals } from "../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../src/service/platform/lifecycle/clock.ts";
import { createProviderSessions } from "../../../src/service/users/provider-sessions.ts";

/** All calls of `tss.v1.Admin` on one network. */
export function wholeAdminService({
  accounts,
  adminKeys,
  ...network
}: Omit<AdminServiceDeps, "database"> & {
  readonly accounts: AccountCallsDeps;
  readonly adminKeys: AdminKeyCallsDeps;
}): ServiceImpl<typeof Admin> {
  return {
    ...createAdminService({ ...network, database: accounts.database }),
    ...createNetworkCalls({
      database: accounts.database,
      signals: { ...createLocalSignals(), notify() {} },
      sweepsOf: () => ({ destination: undefined, minValueMicroUsd: 0n }),
    }),
    ...createPriceCalls({ database: accounts.database, clock: systemClock }),
    ...createAccountCalls(accounts),
    ...createAdminKeyCalls(adminKeys),
    ...createIdentityProviderCalls({
      database: accounts.database,
      sessions: createProviderSessions(),
      allowsInside: false,
    }),
  };
}
