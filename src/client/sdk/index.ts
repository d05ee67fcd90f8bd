/** The package's entry `threshold-signing-service/sdk`, for Node and browsers. */
export type { AccountKey, GetAccountResponse as Account } from "../../../gen/client/tss/v1/account_pb.ts";
export {
  type Deposit,
  Deposit_State as DepositState,
  type DepositAddress as PaidDepositAddress,
  type DepositCoin,
  type DepositCredit,
  type GetBalanceResponse as Balance,
  type GetDepositAddressResponse as DepositAddress,
  type GetPricingResponse as Prices,
  type GetUsageResponse as UsageHistory,
  type LedgerEntry,
  LedgerEntry_Kind as LedgerEntryKind,
  type SignPrice,
  type Usage,
  type UsageStep,
  type UserUsage,
} from "../../../gen/client/tss/v1/billing_pb.ts";
export type { Event } from "../../../gen/client/tss/v1/events_pb.ts";
export {
  type DWallet,
  DWallet_State as DWalletState,
  type EncryptionKey,
  ExitDrill_Outcome as ExitDrillOutcome,
  type GetNetworkResponse as NetworkInformation,
} from "../../../gen/client/tss/v1/onboarding_pb.ts";
export type { Session } from "../../../gen/client/tss/v1/sessions_pb.ts";
export { type Holder, Holder_State as HolderState } from "../../../gen/client/tss/v1/sharing_pb.ts";
export {
  type SignRequest,
  type SignRequest_Failure as SignFailure,
  SignRequest_Hold_State as SignHoldState,
  SignRequest_Status as SignStatus,
} from "../../../gen/client/tss/v1/signing_pb.ts";
export type { User } from "../../../gen/client/tss/v1/users_pb.ts";
export type { CryptoEngine } from "../crypto/engine.ts";
export { createInlineEngine } from "../crypto/engines/inline-engine.ts";
export type { ActionOptions } from "./action.ts";
export type { ImportKeyArgs } from "./actions/imports/import-within.ts";
export type { SignLaterArgs } from "./actions/later/sign-later.ts";
export type { SignLaterResult } from "./actions/later/sign-later-within.ts";
export type { GetOrCreateArgs } from "./actions/onboard.ts";
export type {
  OnboardArgs,
  OnboardResult,
  OnboardStage,
  ResumeOnboardArgs,
} from "./actions/onboard-within.ts";
export type {
  AdoptDWalletArgs,
  AdoptDWalletResult,
  AdoptDWalletStage,
} from "./actions/recovery/adopt-within.ts";
export type {
  FindDWalletsArgs,
  FindDWalletsResult,
  FindDWalletsStage,
  FoundDWallet,
} from "./actions/recovery/find-dwallets-within.ts";
export type {
  ReadKeyArgs,
  ReadKeyResult,
  ReadKeyStage,
  RecoverShareArgs,
  RecoverShareResult,
  RecoverShareStage,
  ShareSource,
} from "./actions/recovery/recover-within.ts";
export type { ResumeArgs, ResumeResult } from "./actions/resume-within.ts";
export type {
  AcceptShareArgs,
  AcceptShareResult,
  AcceptShareStage,
  RecipientKey,
  RegisterRecipientArgs,
  RegisterRecipientStage,
  ShareWithArgs,
  ShareWithResult,
  ShareWithStage,
} from "./actions/sharing/share-within.ts";
export type { ResumeSignArgs, SignOptions } from "./actions/signing/sign.ts";
export type { SignArgs } from "./actions/signing/sign-args.ts";
export type { SignManyItem, SignManyOptions } from "./actions/signing/sign-many.ts";
export type { SignResult, SignStage } from "./actions/signing/sign-within.ts";
export type { WatchSignArgs } from "./actions/signing/watch-sign.ts";
export {
  addressesOfKey,
  type BitcoinPrefix,
  bitcoinP2trAddress,
  bitcoinP2wpkhAddress,
  ethereumAddress,
  type NamedAddress,
  polkadotAddress,
  type SuiScheme,
  solanaAddress,
  suiAddress,
} from "./addresses.ts";
export type {
  BillingCalls,
  ListDepositAddressesArgs,
  ListDepositsArgs,
  ListUserUsageArgs,
  UsageArgs,
} from "./calls/billing-calls.ts";
export type { EventCalls, ListEventsArgs, WatchEventsArgs } from "./calls/event-calls.ts";
export type {
  ListDWalletsArgs,
  ListEncryptionKeysArgs,
  ListSignsArgs,
  ProjectCalls,
  ReportExitDrillArgs,
} from "./calls/project-calls.ts";
export type { ListArgs, RequestOptions } from "./calls/service-calls.ts";
export type { ListUsersArgs, UserArgs, UserCalls } from "./calls/user-calls.ts";
export {
  type VerifyWebhookArgs,
  verifyWebhook,
  type WebhookHeaders,
  type WebhookMessage,
} from "./calls/verify-webhook.ts";
export type { IkaObjects } from "./chain/network.ts";
export { createClient, type TssClient } from "./client.ts";
export type { ClientOptions, CommonOptions, KeyOption, SessionOption } from "./client-options.ts";
export type { RawClients } from "./context.ts";
export type { CustodyActions } from "./custody/custody-actions.ts";
export type {
  CustodyStage,
  LeaveArgs,
  LeaveResult,
  RefuseArgs,
  RefuseResult,
} from "./custody/custody-within.ts";
export type { Rehearsal, RehearseArgs } from "./custody/rehearse-within.ts";
export { submitLeave, submitRefusal } from "./custody/submit-authorization.ts";
export type { GasSigner, SubmitArgs } from "./custody/submit-consent.ts";
export type { TreasuryAuthorization } from "./custody/treasury-authorization.ts";
export { type LocalReason, TssError, type TssErrorReason } from "./errors.ts";
export {
  Curve,
  curveName,
  Hash,
  hashName,
  type Network,
  SignatureAlgorithm,
  signatureAlgorithmName,
} from "./names.ts";
export { createRecovery, type Recovery, type RecoveryOptions } from "./recovery.ts";
export type { SessionRequest, SessionSource, SessionToken } from "./sessions/session.ts";
export type {
  CreatedSession,
  CreateSessionArgs,
  ListSessionsArgs,
  SessionAllowance,
  SessionBudget,
  SessionCalls,
} from "./sessions/session-calls.ts";
