import type { Deposit_State } from "../../gen/client/tss/v1/billing_pb.ts";
import type { SignRequest_Status } from "../../gen/client/tss/v1/signing_pb.ts";

/** The start and the page size of a list. */
export interface ListArgs {
  /** The maximum number of items per page. Default 50, at most 200. */
  readonly pageSize?: number | undefined;
}

/** Arguments of `listDWallets`. */
export interface ListDWalletsArgs extends ListArgs {
  readonly name?: string | undefined;
  /** A name of `DWalletState`, like `Active`. `awaiting_user_share` is another name of `AwaitingKeyHolderSignature`. */
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
  /** Default `day`. */
  readonly step?: "hour" | "day" | undefined;
  /** The beginning of the window. */
  readonly start?: Date | undefined;
  /** The end of the window. Default: now. */
  readonly end?: Date | undefined;
}

/** Arguments of `listDeposits`. */
export interface ListDepositsArgs extends ListArgs {
  readonly state?: Deposit_State | undefined;
  readonly reference?: string | undefined;
}
