/**
 * The package's entry `threshold-signing-service/pieces`: a recovery of a dWallet by some of several pieces. It is a
 * separate entry, so that no other program contains the secret sharing.
 */
export { type LocalReason, TssError, type TssErrorReason } from "../../sdk/errors.ts";
export {
  type AddedRecovery,
  type AddRecoveryArgs,
  type AddRecoveryOptions,
  addRecovery,
  type RecoveryClient,
} from "./add-recovery.ts";
export { type JoinedPieces, joinPieces, type RejectedPiece } from "./join-pieces.ts";
export { type PieceFacts, readPiece } from "./piece-text.ts";
export type { ExpectedRecovery } from "./select-set.ts";
