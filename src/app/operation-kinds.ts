import { createSweepOperation } from "../billing/sweeps/sweep-operation.ts";
import type { DepositSigner } from "../billing/sweeps/sweep-signer.ts";
import type { ChainNetwork } from "../chain/network.ts";
import type { OperationKind } from "../chain/operation.ts";
import type { NetworkReader } from "../chain/reader.ts";
import type { NetworkConfig } from "../config/networks.ts";
import type { Signals } from "../coordination/signals.ts";
import type { ServiceMetrics } from "../observe/service-metrics.ts";
import { createAcceptOperation } from "../onboarding/accept-dwallet.ts";
import { createConsentOperation } from "../onboarding/custody/consent-operation.ts";
import { createDkgOperation } from "../onboarding/dkg-operation.ts";
import { createRegisterOperation } from "../onboarding/register-operation.ts";
import { createPresignOperation } from "../presigns/presign-operation.ts";
import { createSignOperation } from "../signing/sign-operation.ts";
import type { Log } from "../telemetry/log.ts";

/** Returns all kinds of operations. */
export function operationKinds(options: OperationKindsOptions): OperationKind[] {
  const { network, reader, signals, config, depositSigner, observe, log } = options;
  const { senderAddress } = network;
  const { submitBatchCount, presignBatchCount, refundsPerDay } = config;
  return [
    createSignOperation({
      signals,
      reader,
      senderAddress,
      batchCount: submitBatchCount,
      refundsPerDay,
      observer: observe?.signs,
    }),
    createRegisterOperation(reader),
    createDkgOperation(reader, senderAddress),
    createAcceptOperation(reader),
    createConsentOperation({ reader, treasuryId: network.treasury.treasuryId }),
    createPresignOperation({ reader, senderAddress, batchCount: presignBatchCount }),
    createSweepOperation({ reader, signerOf: depositSigner, log }),
  ] as OperationKind[];
}

export interface OperationKindsOptions {
  readonly network: Pick<ChainNetwork, "senderAddress" | "treasury">;
  readonly reader: NetworkReader;
  readonly signals: Signals;
  readonly config: Pick<NetworkConfig, "submitBatchCount" | "presignBatchCount" | "refundsPerDay">;
  readonly depositSigner: DepositSigner;
  readonly observe?: Pick<ServiceMetrics, "signs"> | undefined;
  readonly log: Pick<Log, "info" | "warn">;
}
