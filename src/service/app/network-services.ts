import type { ServiceImpl } from "@connectrpc/connect";
import type { Account } from "../../../gen/proto/tss/v1/account_pb.ts";
import type { Billing } from "../../../gen/proto/tss/v1/billing_pb.ts";
import type { Onboarding } from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import type { Operations } from "../../../gen/proto/tss/v1/operations_pb.ts";
import type { Signing } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { untilClosing } from "../../transport/calls/closing-signal.ts";
import { createAccountService } from "../access/account-service.ts";
import { createBillingService } from "../billing/billing-service.ts";
import type { Deposits } from "../billing/deposits/deposits.ts";
import type { CallerReads } from "../chain/fullnodes/caller-reads.ts";
import type { ChainNetwork } from "../chain/fullnodes/network.ts";
import { createNetworkReader, type NetworkReader } from "../chain/reader.ts";
import { createTreasuryReader } from "../chain/treasury/treasury-reader.ts";
import type { Config } from "../config/config.ts";
import type { NetworkConfig } from "../config/networks.ts";
import { createOnboardingService, type OnboardingServiceDeps } from "../onboarding/onboarding-service.ts";
import { type AdminNetworkCalls, createAdminService } from "../operator/calls/admin-service.ts";
import type { Readiness } from "../operator/health/readiness.ts";
import { createOperationsService } from "../operator/history/operations-service.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import type { Database } from "../platform/store/database.ts";
import type { PresignTurns } from "../signing/reserve.ts";
import { createSigningService } from "../signing/signing-service.ts";
import type { CheckHalf } from "../signing/verifier.ts";

/** The services of one network. */
export interface NetworkServices {
  readonly onboarding: ServiceImpl<typeof Onboarding>;
  readonly signing: ServiceImpl<typeof Signing>;
  readonly billing: ServiceImpl<typeof Billing>;
  readonly account: ServiceImpl<typeof Account>;
  readonly admin: AdminNetworkCalls;
  readonly operations: ServiceImpl<typeof Operations>;
}

/** Dependencies of {@link implementNetworkServices}. */
export interface ServiceParts extends Pick<OnboardingServiceDeps, "parameters" | "parameterStore"> {
  readonly database: Database;
  readonly network: ChainNetwork;
  readonly reader: NetworkReader;
  readonly signals: Signals;
  readonly presigns: PresignTurns;
  readonly callerReads: CallerReads;
  readonly checkHalf: CheckHalf;
  /** Undefined if the service takes no deposits. */
  readonly deposits: Deposits | undefined;
  /** The readiness of the process with all its networks. */
  readonly readiness: () => Promise<Readiness>;
  /** The names of all served networks. */
  readonly networks: readonly string[];
  readonly processType: Config["processType"];
}

/** Implements the services of one network. */
export function implementNetworkServices(parts: ServiceParts, config: NetworkConfig): NetworkServices {
  const { database, network, reader, signals, presigns, deposits } = parts;
  const onboarding = {
    dkgsPerDay: config.dkgsPerDay,
    dkgPriceMicroUsd: config.prices.dkgMicroUsd,
    refundsPerDay: config.refundsPerDay,
  };
  return {
    onboarding: createOnboardingService({
      ...parts,
      readerFor: (projectId) => createNetworkReader({ ...network, ...parts.callerReads(projectId) }),
      ...onboarding,
    }),
    signing: createSigningService({
      database,
      presigns,
      signals,
      clock: network.clock,
      checkHalf: parts.checkHalf,
      prices: config.prices,
      reservationTtlMs: config.reservationTtlMs,
      openMaxCount: config.openReservationsMaxCount,
      untilClosing,
    }),
    billing: createBillingService({ database, clock: network.clock, prices: config.prices, deposits }),
    account: createAccountService({ database }),
    operations: createOperationsService({
      database,
      network: { senderAddress: network.senderAddress, laneIds: network.treasury.operatorCapIds },
      readiness: parts.readiness,
      networks: parts.networks,
      processType: parts.processType,
    }),
    admin: createAdminService({
      database,
      chain: { network, reader, treasury: createTreasuryReader(network) },
      presigns: {
        network: network.name,
        configured: config.presignBuckets,
        newestNetworkEncryptionKeyId: async () => (await reader.networkKey()).id,
        signals,
      },
      lowWaterCount: config.presignLowWaterCount,
      highWaterCount: config.presignHighWaterCount,
    }),
  };
}
