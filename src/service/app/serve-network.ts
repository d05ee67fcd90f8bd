import type { ServiceImpl } from "@connectrpc/connect";
import type { Account } from "../../../gen/proto/tss/v1/account_pb.ts";
import type { Billing } from "../../../gen/proto/tss/v1/billing_pb.ts";
import type { Onboarding } from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import type { Operations } from "../../../gen/proto/tss/v1/operations_pb.ts";
import type { Sharing } from "../../../gen/proto/tss/v1/sharing_pb.ts";
import type { Signing } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { CURVES } from "../../protocol/algorithms.ts";
import { untilClosing } from "../../transport/calls/closing-signal.ts";
import { createAccountService } from "../access/account-service.ts";
import { createBillingService } from "../billing/billing-service.ts";
import { createNetworkReader } from "../chain/reader.ts";
import { createHoldCeilings, createImportCeilings } from "../chain/treasury/ceilings.ts";
import { createTreasuryReader } from "../chain/treasury/treasury-reader.ts";
import { createParameterBuilder } from "../onboarding/build-parameters.ts";
import { findDWallet, findDWalletOfSession } from "../onboarding/dwallet-row.ts";
import { findKeyByObject, findKeyOfSigner } from "../onboarding/encryption-keys.ts";
import type { OnboardingDeps } from "../onboarding/onboarding-deps.ts";
import { createOnboardingService } from "../onboarding/onboarding-service.ts";
import { createSharingService } from "../onboarding/sharing/sharing-service.ts";
import { type AdminNetworkCalls, createAdminService } from "../operator/calls/admin-service.ts";
import type { Readiness } from "../operator/health/readiness.ts";
import { createOperationsService } from "../operator/history/operations-service.ts";
import type { Lifecycle } from "../platform/lifecycle/lifecycle.ts";
import { startLoopsTogether } from "../platform/lifecycle/start-loops.ts";
import type { Database } from "../platform/store/database.ts";
import { listSigns } from "../signing/shown-sign-request.ts";
import { createSigningService } from "../signing/signing-service.ts";
import { createCheckHalf, wrongHalvesSizes } from "../signing/verify/verifier.ts";
import type { OpenNetwork } from "./network.ts";
import type { Service } from "./service.ts";

/** The services of one network. */
export interface NetworkServices {
  readonly onboarding: ServiceImpl<typeof Onboarding>;
  readonly sharing: ServiceImpl<typeof Sharing>;
  readonly signing: ServiceImpl<typeof Signing>;
  readonly billing: ServiceImpl<typeof Billing>;
  readonly account: ServiceImpl<typeof Account>;
  readonly admin: AdminNetworkCalls;
  readonly operations: ServiceImpl<typeof Operations>;
}

/** Implements the services of one network, and starts the loop that builds its protocol parameters. */
export async function serveNetwork(
  network: OpenNetwork,
  service: Service,
  { readiness, lifecycle }: ServeNetworkOptions,
): Promise<NetworkServices> {
  const { config, database, log } = network;
  const { parameterStore, clock } = service;
  const { reader } = network.background;
  const curves = [
    ...new Set([...config.presignBuckets.map(({ curveNumber }) => curveNumber), ...CURVES.keys()]),
  ];
  const parameters = createParameterBuilder({ reader, store: parameterStore, curves, clock, log });
  if (service.config.servesParameters)
    await startLoopsTogether(lifecycle, [{ name: "parameters", loop: parameters }]);
  await warmUp(database);
  return {
    onboarding: createOnboardingService({ ...onboardingOf(network), parameters, parameterStore }),
    sharing: createSharingService({
      ...onboardingOf(network),
      sharePriceMicroUsd: config.prices.shareMicroUsd,
    }),
    signing: signingOf(network, service),
    billing: createBillingService({
      database,
      signals: network.signals,
      clock,
      prices: config.prices,
      deposits: network.deposits,
    }),
    account: createAccountService({ database }),
    operations: operationsOf(network, service, readiness),
    admin: adminOf(network),
  };
}

/** Options of {@link serveNetwork}. */
interface ServeNetworkOptions {
  /** The readiness of the process with all its networks. */
  readonly readiness: () => Promise<Readiness>;
  /** Stops the network's own parts. */
  readonly lifecycle: Lifecycle;
}

function onboardingOf({ config, database, background, callerReads, signals }: OpenNetwork): OnboardingDeps {
  return {
    database,
    network: background.chain,
    reader: background.reader,
    readerFor: (projectId) => createNetworkReader({ ...background.chain, ...callerReads(projectId) }),
    signals,
    dkgsPerDay: config.dkgsPerDay,
    dkgPriceMicroUsd: config.prices.dkgMicroUsd,
    importPriceMicroUsd: config.prices.importMicroUsd,
    paysImports: createImportCeilings(createTreasuryReader(background.chain), background.chain.clock),
    usersMaxCount: config.usersMaxCount,
    refundsPerDay: config.refundsPerDay,
  };
}

function signingOf(network: OpenNetwork, { coordination, clock }: Service): NetworkServices["signing"] {
  const { config, database, presigns, signals, verifier } = network;
  const { chain } = network.background;
  const { ofProject, ofUser } = wrongHalvesSizes(config.wrongHalvesPerMinute);
  const wrongHalves = coordination.buckets("wrong halves", ofProject);
  const wrongHalvesOfUser = coordination.buckets("wrong halves:user", ofUser);
  return createSigningService({
    database,
    presigns,
    signals,
    clock,
    checkHalf: createCheckHalf({ clock, verifier, wrongHalves, wrongHalvesOfUser }),
    prices: config.prices,
    reservationTtlMs: config.reservationTtlMs,
    openMaxCount: config.openReservationsMaxCount,
    paysHolds: createHoldCeilings(createTreasuryReader(chain), chain.clock),
    untilClosing,
  });
}

function operationsOf(
  { database, chain }: OpenNetwork,
  { config }: Service,
  readiness: () => Promise<Readiness>,
): NetworkServices["operations"] {
  return createOperationsService({
    database,
    network: { senderAddress: chain.senderAddress, laneIds: chain.treasury.operatorCapIds },
    readiness,
    networks: config.networks.map(({ name }) => name),
    processType: config.processType,
  });
}

function adminOf({ config, database, background, signals }: OpenNetwork): NetworkServices["admin"] {
  const { chain: network, reader } = background;
  return createAdminService({
    database,
    chain: { network, reader, treasury: createTreasuryReader(network) },
    presigns: {
      network: config.name,
      configured: config.presignBuckets,
      newestNetworkEncryptionKeyId: async () => (await reader.networkKey()).id,
      lowWaterCount: config.presignLowWaterCount,
      highWaterCount: config.presignHighWaterCount,
      signals,
    },
  });
}

/**
 * Runs each of the requests' Prisma queries once, for rows that do not exist. The first query loads Prisma's query
 * compiler, and each one compiles its plan. Both block the event loop, so they run before the first call.
 */
async function warmUp(database: Database): Promise<void> {
  const projectId = "00000000-0000-0000-0000-000000000000";
  const nothing = "";
  await findKeyOfSigner(database, { projectId, curve: 0, signerAddress: nothing });
  await findKeyByObject(database, { projectId, objectId: nothing });
  await findDWalletOfSession(database, {
    network: nothing,
    senderAddress: nothing,
    sessionIdentifier: new Uint8Array(32),
  });
  // These two throw for a missing dWallet.
  await findDWallet(database, { projectId }, nothing).catch(() => undefined);
  const signs = { dwalletId: nothing, status: undefined, pageSize: 1, pageToken: "" };
  await listSigns(database, { projectId }, signs).catch(() => undefined);
}
