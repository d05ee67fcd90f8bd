import { GrpcTypes } from "@mysten/sui/grpc";
import { RpcFailure, Status } from "../execution/failures.ts";
import { REFERENCE_GAS_PRICE } from "../execution/gas.ts";
import { LIMITS } from "../execution/limits.ts";
import type { Ledger } from "../objects/ledger.ts";
import { parseReadMask } from "../wire/read-mask.ts";
import { timestampProto } from "../wire/transaction-proto.ts";

/**
 * Answers `GetEpoch`: an epoch with its protocol config and its system state. The config has the limits that this node
 * enforces and the features that it has, under the names of Sui's config. The state has the parameters of a new Sui
 * network, and no validators.
 */
export function getEpoch(ledger: Ledger, request: GrpcTypes.GetEpochRequest): GrpcTypes.Epoch {
  const mask = parseReadMask<GrpcTypes.Epoch>(GrpcTypes.Epoch, request.readMask, ["epoch"]);
  const { epoch: current } = ledger.now();
  const epoch = request.epoch ?? current;
  if (epoch < 1n || epoch > current) throw new RpcFailure(Status.NotFound, `Epoch ${epoch} not found`);
  const startMs = ledger.genesisTimestampMs + (epoch - 1n) * ledger.epochDurationMs;
  return mask.project({
    epoch,
    start: timestampProto(startMs),
    referenceGasPrice: REFERENCE_GAS_PRICE,
    protocolConfig: PROTOCOL_CONFIG,
    systemState: systemState(epoch, startMs, ledger.epochDurationMs),
  });
}

const PROTOCOL_VERSION = 118n;

const ATTRIBUTES: Readonly<Record<string, number | bigint>> = {
  max_tx_size_bytes: LIMITS.transactionBytes,
  max_pure_argument_size: LIMITS.pureArgumentBytes,
  max_programmable_tx_commands: LIMITS.commands,
  max_input_objects: LIMITS.inputObjects,
  max_arguments: LIMITS.argumentsPerCommand,
  max_gas_payment_objects: LIMITS.gasObjects,
  max_num_event_emit: LIMITS.events,
  max_event_emit_size: LIMITS.eventBytes,
  max_move_object_size: LIMITS.objectBytes,
  max_num_new_move_object_ids: LIMITS.newIds,
  object_runtime_max_num_cached_objects: LIMITS.dynamicFields,
  max_tx_gas: LIMITS.maxGasBudget,
};

const PROTOCOL_CONFIG: GrpcTypes.ProtocolConfig = {
  protocolVersion: PROTOCOL_VERSION,
  featureFlags: { enable_accumulators: true, enable_address_balance_gas_payments: true },
  attributes: Object.fromEntries(Object.entries(ATTRIBUTES).map(([name, value]) => [name, String(value)])),
  configs: {},
};

function systemState(epoch: bigint, startMs: bigint, epochDurationMs: bigint): GrpcTypes.SystemState {
  return {
    version: 2n,
    epoch,
    protocolVersion: PROTOCOL_VERSION,
    referenceGasPrice: REFERENCE_GAS_PRICE,
    epochStartTimestampMs: startMs,
    safeMode: false,
    safeModeStorageRewards: 0n,
    safeModeComputationRewards: 0n,
    safeModeStorageRebates: 0n,
    safeModeNonRefundableStorageFee: 0n,
    parameters: { epochDurationMs, ...VALIDATOR_PARAMETERS },
    storageFund: { totalObjectStorageRebates: 0n, nonRefundableBalance: 0n },
    stakeSubsidy: STAKE_SUBSIDY,
    validatorReportRecords: [],
  };
}

const MIST_PER_SUI = 1_000_000_000n;

/** The parameters that Sui's genesis sets. Nothing on this network depends on them. */
const VALIDATOR_PARAMETERS = {
  stakeSubsidyStartEpoch: 0n,
  minValidatorCount: 4n,
  maxValidatorCount: 150n,
  minValidatorJoiningStake: 30_000_000n * MIST_PER_SUI,
  validatorLowStakeThreshold: 20_000_000n * MIST_PER_SUI,
  validatorVeryLowStakeThreshold: 15_000_000n * MIST_PER_SUI,
  validatorLowStakeGracePeriod: 7n,
} as const;

/** No subsidy is ever paid here. */
const STAKE_SUBSIDY = {
  balance: 0n,
  distributionCounter: 0n,
  currentDistributionAmount: 0n,
  stakeSubsidyPeriodLength: 10n,
  stakeSubsidyDecreaseRate: 1_000,
} as const;
