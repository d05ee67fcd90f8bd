import { Account } from "../../gen/proto/tss/v1/account_pb.ts";
import { Admin } from "../../gen/proto/tss/v1/admin_pb.ts";
import { Billing } from "../../gen/proto/tss/v1/billing_pb.ts";
import { Onboarding } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { Operations } from "../../gen/proto/tss/v1/operations_pb.ts";
import { Signing } from "../../gen/proto/tss/v1/signing_pb.ts";
import { createAccountService } from "../access/account-service.ts";
import type { AdminKeyLookup } from "../access/admin-key-lookup.ts";
import type { ApiKeyLookup } from "../access/api-key-lookup.ts";
import { createAdminService } from "../admin/admin-service.ts";
import { listChainTransactions } from "../admin/list-chain-transactions.ts";
import { createBillingService } from "../billing/billing-service.ts";
import type { Deposits } from "../billing/deposits/deposits.ts";
import type { CallerReads } from "../chain/caller-reads.ts";
import type { ChainNetwork } from "../chain/network.ts";
import { createNetworkReader, type NetworkReader } from "../chain/reader.ts";
import { readTreasury } from "../chain/treasury/read-treasury.ts";
import { createTreasuryReader } from "../chain/treasury/treasury-reader.ts";
import type { Config } from "../config/config.ts";
import type { Signals } from "../coordination/signals.ts";
import type { Readiness } from "../health/readiness.ts";
import { createOnboardingService, type OnboardingServiceDeps } from "../onboarding/onboarding-service.ts";
import { createOperationsService } from "../operations/operations-service.ts";
import { readPresignHealth } from "../presigns/presign-health.ts";
import { refillBucket } from "../presigns/refill-bucket.ts";
import type { CheckHalf } from "../signing/check-half.ts";
import type { PresignTurns } from "../signing/reserve.ts";
import { createSigningService } from "../signing/signing-service.ts";
import type { Database } from "../store/database.ts";
import { untilClosing } from "../transport/closing-signal.ts";
import { registerService, type ServiceRegistration } from "../transport/service-registration.ts";

/** All services of the contract. */
export const SERVICES = [Onboarding, Signing, Billing, Account, Admin, Operations];

/** Dependencies of {@link implementServices}. */
export interface ServiceParts extends Pick<OnboardingServiceDeps, "parameters" | "parameterStore"> {
  readonly database: Database;
  readonly network: ChainNetwork;
  readonly reader: NetworkReader;
  readonly signals: Signals;
  readonly presigns: PresignTurns;
  readonly callerReads: CallerReads;
  readonly checkHalf: CheckHalf;
  readonly lookup: ApiKeyLookup;
  readonly adminLookup: AdminKeyLookup;
  /** Undefined if the service takes no deposits. */
  readonly deposits: Deposits | undefined;
  readonly readiness: () => Promise<Readiness>;
}

/** Implements {@link SERVICES}. */
export function implementServices(parts: ServiceParts, config: Config): ServiceRegistration[] {
  const { database, network, reader, signals, presigns, deposits } = parts;
  const pool = {
    network: network.name,
    newestNetworkEncryptionKeyId: async () => (await reader.networkKey()).id,
  };
  const treasury = createTreasuryReader(network);
  const highWaterCount = config.presignHighWaterCount;
  const onboarding = {
    dkgsPerDay: config.dkgsPerDay,
    dkgPriceMicroUsd: config.prices.dkgMicroUsd,
    refundsPerDay: config.refundsPerDay,
  };
  return [
    registerService(
      Onboarding,
      createOnboardingService({
        ...parts,
        readerFor: (projectId) => createNetworkReader({ ...network, ...parts.callerReads(projectId) }),
        ...onboarding,
      }),
    ),
    registerService(
      Signing,
      createSigningService({
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
    ),
    registerService(Billing, createBillingService({ database, prices: config.prices, deposits })),
    registerService(Account, createAccountService({ database })),
    registerService(
      Operations,
      createOperationsService({
        database,
        network: { senderAddress: network.senderAddress, laneIds: network.treasury.operatorCapIds },
        readiness: parts.readiness,
        processType: config.processType,
      }),
    ),
    registerService(
      Admin,
      createAdminService({
        accounts: { database, lookup: parts.lookup },
        adminKeys: { database, lookup: parts.adminLookup },
        chain: {
          readTreasury: () => readTreasury({ db: database, network, reader, treasury }),
          listChainTransactions: (...call) => listChainTransactions(database, ...call),
        },
        lowWaterCount: config.presignLowWaterCount,
        highWaterCount,
        readPresignHealth: () =>
          readPresignHealth({ ...pool, db: database, configured: config.presignBuckets }),
        refillBucket: (...call) => refillBucket({ ...pool, database, highWaterCount, signals }, ...call),
      }),
    ),
  ];
}
