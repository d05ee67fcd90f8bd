import type { Deposit_State } from "../../gen/client/tss/v1/billing_pb.ts";
import type { SignRequest_Status } from "../../gen/client/tss/v1/signing_pb.ts";

/** The page size of a list. */
export interface ListArgs {
  /** The maximum number of items per page. Default 50, at most 200. */
  readonly pageSize?: number | undefined;
}

/** Arguments of `listDWallets`. */
export interface ListDWalletsArgs extends ListArgs {
  readonly name?: string | undefined;
  /** A name of `DWalletState`, such as `Active`. `awaiting_user_share` means `AwaitingKeyHolderSignature`. */
  readonly state?: string | undefined;
}

/** Arguments of `listSigns`. */
export interface ListSignsArgs extends ListArgs {
  readonly dwalletId?: string | undefined;
  readonly status?: SignRequest_Status | undefined;
}

/** Arguments of `listDepositAddresses`. */
export interface ListDepositAddressesArgs extends ListArgs {
  readonly reference?: string | undefined;
  readonly referencePrefix?: string | undefined;
}

/** Arguments of `usage`. */
export interface UsageArgs {
  /** The length of a step. Default `day`. */
  readonly step?: "hour" | "day" | undefined;
  /** The beginning of the window. Default: 30 days before its end, or 24 hours for the step `hour`. */
  readonly start?: Date | undefined;
  /** The end of the window. Default: now. */
  readonly end?: Date | undefined;
}

/** Arguments of `listDeposits`. */
export interface ListDepositsArgs extends ListArgs {
  readonly state?: Deposit_State | undefined;
  readonly reference?: string | undefined;
}
