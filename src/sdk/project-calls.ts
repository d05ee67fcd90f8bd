import type { Transport } from "@connectrpc/connect";
import {
  Billing,
  type Deposit,
  type Deposit_State,
  type GetBalanceResponse,
  type GetDepositAddressResponse,
  type GetPricingResponse,
  type LedgerEntry,
} from "../../gen/proto/tss/v1/billing_pb.ts";
import {
  type DWallet,
  type EncryptionKey,
  type GetNetworkResponse,
  Onboarding,
} from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { Signing, type SignRequest, type SignRequest_Status } from "../../gen/proto/tss/v1/signing_pb.ts";
import { createServiceCalls, type RequestOptions } from "./service-calls.ts";

/** Where a list begins, and how much of it one call reads. */
export interface ListArgs {
  /** How many a call reads at most: default 50, and never above 200. */
  readonly pageSize?: number | undefined;
}

/**
 * What the service knows of a project, in its own messages. It is the service's word: nothing is compared with the chain.
 * Lists begin with the newest, and read the next page when it is asked for. All throw a TssError.
 */
export interface ProjectCalls {
  /** The network's ids, its keys and the addresses that send. */
  network(options?: RequestOptions): Promise<GetNetworkResponse>;
  /** One dWallet of the project. */
  getDWallet(args: { readonly dwalletId: string }, options?: RequestOptions): Promise<DWallet>;
  /** The project's dWallets: all, or the one that has a name. */
  listDWallets(args?: ListDWalletsArgs, options?: RequestOptions): AsyncIterable<DWallet>;
  /** The encryption keys of the project's users. */
  listEncryptionKeys(args?: ListArgs, options?: RequestOptions): AsyncIterable<EncryptionKey>;
  /** One sign request of the project. Its signature is not verified here: `resumeSign` and `resume` do that. */
  getSign(args: { readonly signRequestId: string }, options?: RequestOptions): Promise<SignRequest>;
  /** The project's sign requests: all, or those of one dWallet or in one state. */
  listSigns(args?: ListSignsArgs, options?: RequestOptions): AsyncIterable<SignRequest>;
  /** What the project has, and the part of it that is held for open reservations. */
  balance(options?: RequestOptions): Promise<GetBalanceResponse>;
  /** What the service charges. */
  prices(options?: RequestOptions): Promise<GetPricingResponse>;
  /** Every movement of the project's money. */
  listLedgerEntries(args?: ListArgs, options?: RequestOptions): AsyncIterable<LedgerEntry>;
  /** Where deposits go, and what is taken there. */
  depositAddress(options?: RequestOptions): Promise<GetDepositAddressResponse>;
  /** Has a transaction looked at now. Deposits are found without it; it only makes them sooner. */
  declareDeposit(args: { readonly txDigest: string }, options?: RequestOptions): Promise<readonly Deposit[]>;
  /** The project's deposits: all, or those in one state. */
  listDeposits(args?: ListDepositsArgs, options?: RequestOptions): AsyncIterable<Deposit>;
}

/** Which dWallets are listed. */
export interface ListDWalletsArgs extends ListArgs {
  readonly name?: string | undefined;
}

/** Which sign requests are listed. */
export interface ListSignsArgs extends ListArgs {
  readonly dwalletId?: string | undefined;
  readonly status?: SignRequest_Status | undefined;
}

/** Which deposits are listed. */
export interface ListDepositsArgs extends ListArgs {
  readonly state?: Deposit_State | undefined;
}

/** Makes the calls over a transport that has the caller's headers. */
export function createProjectCalls(transport: Transport): ProjectCalls {
  const onboarding = createServiceCalls(Onboarding, transport);
  const signing = createServiceCalls(Signing, transport);
  const billing = createServiceCalls(Billing, transport);
  return {
    network: (options) => onboarding.getNetwork({}, options),
    getDWallet: onboarding.getDWallet,
    listDWallets: onboarding.listDWallets,
    listEncryptionKeys: onboarding.listEncryptionKeys,
    getSign: signing.getSign,
    listSigns: signing.listSigns,
    balance: (options) => billing.getBalance({}, options),
    prices: (options) => billing.getPricing({}, options),
    listLedgerEntries: billing.listLedgerEntries,
    depositAddress: (options) => billing.getDepositAddress({}, options),
    declareDeposit: async (args, options) => (await billing.declareDeposit(args, options)).deposits,
    listDeposits: billing.listDeposits,
  };
}
