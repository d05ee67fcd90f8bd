import { moveAbort } from "../../fullnode/execution/failures.ts";

/** Abort code of `ika_dwallet_2pc_mpc::coordinator` when the coordinator has another version than the package. */
export const WRONG_INNER_VERSION = 0;

/** Abort code of `ika_dwallet_2pc_mpc::pricing_and_fee_manager` for an operation without a price. */
export const MISSING_PROTOCOL_PRICING = 1;

/** Abort codes of `ika_dwallet_2pc_mpc::coordinator_inner`. */
export const CoordinatorAbort = {
  DWalletMismatch: 1,
  DWalletInactive: 2,
  DWalletNotExists: 3,
  WrongState: 4,
  NetworkEncryptionKeyNotExist: 5,
  InvalidEncryptionKeySignature: 6,
  MessageApprovalMismatch: 7,
  PresignNotExist: 9,
  IncorrectCap: 10,
  UnverifiedCap: 11,
  InvalidSource: 12,
  InvalidPresign: 14,
  SharesAlreadyPublic: 16,
  MismatchCurve: 17,
  ImportedKeyDWallet: 18,
  NotImportedKeyDWallet: 19,
  EncryptionKeyNotExist: 20,
  NetworkEncryptionKeyUnsupportedCurve: 22,
  OnlyGlobalPresignAllowed: 31,
  GlobalPresignNotAllowed: 32,
  PresignMismatch: 33,
} as const;

/** Abort codes of `ika_dwallet_2pc_mpc::sessions_manager`. The last two are those that the SDK observes. */
export const SessionsAbort = {
  InsufficientIkaPayment: 1,
  InsufficientSuiPayment: 2,
  SessionIdentifierAlreadyRegistered: 3,
  InvalidSessionIdentifierLength: 5,
} as const;

/** Abort codes of `ika_dwallet_2pc_mpc::support_config`. */
export const SupportAbort = {
  InvalidHashScheme: 1,
  InvalidCurve: 2,
  InvalidSignatureAlgorithm: 3,
  PausedCurve: 4,
  PausedSignatureAlgorithm: 5,
  PausedHashScheme: 6,
} as const;

/** Throws the coordinator's abort from its own package and module. */
export function abortInner(
  packageId: string,
  functionName: string,
  reason: keyof typeof CoordinatorAbort,
): never {
  throw moveAbort(`${packageId}::coordinator_inner::${functionName}`, CoordinatorAbort[reason]);
}

export function abortSessions(
  packageId: string,
  functionName: string,
  reason: keyof typeof SessionsAbort,
): never {
  throw moveAbort(`${packageId}::sessions_manager::${functionName}`, SessionsAbort[reason]);
}

export function abortSupport(
  packageId: string,
  functionName: string,
  reason: keyof typeof SupportAbort,
): never {
  throw moveAbort(`${packageId}::support_config::${functionName}`, SupportAbort[reason]);
}
