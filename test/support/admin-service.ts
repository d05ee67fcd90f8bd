import type { ServiceImpl } from "@connectrpc/connect";
import type { Admin } from "../../gen/proto/tss/v1/admin_pb.ts";
import {
  type AccountCallsDeps,
  type AdminKeyCallsDeps,
  createAccountCalls,
  createAdminKeyCalls,
} from "../../src/admin/account-calls.ts";
import { type AdminServiceDeps, createAdminService } from "../../src/admin/admin-service.ts";
import { createNetworkCalls } from "../../src/admin/network-calls.ts";
import { createPriceCalls } from "../../src/admin/price-calls.ts";
import { systemClock } from "../../src/lifecycle/clock.ts";

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
      sweepsOf: () => ({ destination: undefined, minValueMicroUsd: 0n }),
    }),
    ...createPriceCalls({ database: accounts.database, clock: systemClock }),
    ...createAccountCalls(accounts),
    ...createAdminKeyCalls(adminKeys),
  };
}
