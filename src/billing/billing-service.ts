import type { ServiceImpl } from "@connectrpc/connect";
import type { Billing } from "../../gen/proto/tss/v1/billing_pb.ts";
import { callerOf } from "../access/caller.ts";
import type { Database } from "../store/database.ts";

/** What the Billing service needs. */
export interface BillingServiceDeps {
  readonly database: Pick<Database, "prisma">;
}

/** Implements `tss.v1.Billing`. */
export function createBillingService({ database }: BillingServiceDeps): ServiceImpl<typeof Billing> {
  return {
    async getBalance(_request, context) {
      const { projectId } = callerOf(context, "project");
      return database.prisma.project.findUniqueOrThrow({
        where: { id: projectId },
        select: { balanceMicroUsd: true, heldMicroUsd: true },
      });
    },
  };
}
