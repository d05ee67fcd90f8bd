/** The package's entry `threshold-signing-service/admin`, for operators' programs. */
export {
  type AdminKey,
  type ApiKey,
  ApiKey_Scope as ApiKeyScope,
  type AuditEvent,
  type ChainOperation,
  ChainOperation_Kind as ChainOperationKind,
  type ChainTransaction,
  ChainTransaction_State as ChainTransactionState,
  type GasCoin,
  type GetAuditProofResponse as AuditProof,
  type GetTreasuryResponse as TreasuryState,
  type IdentityProvider,
  type Lane,
  type PresignBucket,
  type PriceCeiling,
  type Project,
  type Treasury,
  type Wallet,
} from "../../../../gen/client/tss/v1/admin_pb.ts";
export type { AuditSeal } from "../../../../gen/client/tss/v1/audit_pb.ts";
export {
  type BalanceBurn,
  type GetLanesResponse as Lanes,
  type GetMoneyResponse as Money,
  type GetOutboxResponse as Outbox,
  type GetPresignHistoryResponse as PresignHistory,
  type GetReadinessResponse as Readiness,
  GetReadinessResponse_Status as ReadinessStatus,
  type GetSignStatisticsResponse as SignStatistics,
  type GetTreasuryHistoryResponse as TreasuryHistory,
  type LaneStatus,
  type LedgerDifference,
  type LedgerSum,
  type LedgerVerification,
  type OutboxEntry,
  OutboxEntry_State as OutboxState,
  type PresignBucketHistory,
  type PresignLevels,
  type ReadinessCheck,
  type ResolvedTransaction,
  type SignFigures,
  type SignStageFigures,
  SignStageFigures_Stage as MeasuredStage,
  type SignStatisticsStep,
  type SignStatusCount,
  type SweepCount,
  SweepCount_State as SweepState,
  type TreasuryBalances,
  type UnresolvedTransaction,
} from "../../../../gen/client/tss/v1/operations_pb.ts";
export { Session_Scope as SessionScope } from "../../../../gen/client/tss/v1/sessions_pb.ts";
export type { ListItem, RequestOptions, ServiceCall, ServiceCalls } from "../calls/service-calls.ts";
export { type LocalReason, TssError, type TssErrorReason } from "../errors.ts";
export type { Network } from "../names.ts";
export { type AdminClient, type AdminClientOptions, createAdminClient } from "./admin-client.ts";
