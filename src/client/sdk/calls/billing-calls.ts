import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Transport } from "@connectrpc/connect";
import {
  Billing,
  type Deposit,
  type Deposit_State,
  type GetBalanceResponse,
  type GetDepositAddressResponse,
  type GetPricingResponse,
  GetUsageRequest_Step,
  type GetUsageResponse,
  type LedgerEntry,
  type DepositAddress as PaidDepositAddress,
  type UserUsage,
} from "../../../../gen/client/tss/v1/billing_pb.ts";
import {
  createServiceCalls,
  type ListArgs,
  type RequestOptions,
  type ServiceCaller,
} from "./service-calls.ts";

/** Creates the calls about money over a transport that adds the caller's headers. */
export function createBillingCalls(transport: Transport, caller?: ServiceCaller): BillingCalls {
  const billing = createServiceCalls(Billing, transport, caller);
  return {
    balance: (options) => billing.getBalance({}, options),
    setLowBalance: async (args, options) => void (await billing.setLowBalance(args, options)),
    prices: (options) => billing.getPricing({}, options),
    usage: (args, options) => billing.getUsage(usageRequest(args), options),
    listUserUsage: ({ pageSize = 0, ...window } = {}, options) =>
      billing.listUserUsage({ pageSize, ...windowOf(window) }, options),
    listLedgerEntries: billing.listLedgerEntries,
    depositAddress: (args, options) => billing.getDepositAddress(args ?? {}, options),
    listDepositAddresses: billing.listDepositAddresses,
    declareDeposit: async (args, options) => (await billing.declareDeposit(args, options)).deposits,
    listDeposits: billing.listDeposits,
  };
}

/** What a project has, pays and is paid, in the service's own messages. */
export interface BillingCalls {
  /**
   * Reads the project's balance and the part reserved for open requests, in millionths of a US dollar.
   *
   * @throws {TssError} UNREACHABLE when the service does not answer.
   *
   * @example
   * console.log(await client.balance());
   */
  balance(options?: RequestOptions): Promise<GetBalanceResponse>;
  /**
   * Sets the balance, in millionths of a US dollar, below which the project gets an event `balance.low`. Without a value
   * it gets none.
   *
   * @throws {TssError} SCOPE_MISSING when the key lacks the scope `billing`.
   *
   * @example
   * await client.setLowBalance({ lowBalanceMicroUsd: 5_000_000n });
   */
  setLowBalance(args: { readonly lowBalanceMicroUsd?: bigint }, options?: RequestOptions): Promise<void>;
  /**
   * Reads the service's prices, in millionths of a US dollar.
   *
   * @throws {TssError} UNREACHABLE when the service does not answer.
   *
   * @example
   * console.log(await client.prices());
   */
  prices(options?: RequestOptions): Promise<GetPricingResponse>;
  /**
   * Adds up the usage and payments of the project, or of one user, in each hour or day (UTC) of a window. Default: the
   * last 30 days, or the last 24 hours for the step `hour`. A window has at most 92 days, or 7 days of hours.
   *
   * @throws {TssError} VALIDATION when the window is empty or too long.
   *
   * @example
   * const { total, steps } = await client.usage({ step: "day" });
   */
  usage(args?: UsageArgs, options?: RequestOptions): Promise<GetUsageResponse>;
  /**
   * Lists what each of the project's users was charged in a window of at most 31 days, the highest spending first. Default:
   * the last 30 days.
   *
   * @throws {TssError} VALIDATION when the window is empty or too long.
   *
   * @example
   * for await (const { userReference, chargedMicroUsd } of client.listUserUsage()) console.log(userReference, chargedMicroUsd);
   */
  listUserUsage(args?: ListUserUsageArgs, options?: RequestOptions): AsyncIterable<UserUsage>;
  /**
   * Lists the entries of the project's ledger.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   *
   * @example
   * for await (const entry of client.listLedgerEntries()) console.log(entry);
   */
  listLedgerEntries(args?: ListArgs, options?: RequestOptions): AsyncIterable<LedgerEntry>;
  /**
   * Reads the project's deposit address, or the one of a reference: the project's own id of one of its users. The same
   * reference always has the same address.
   *
   * @throws {TssError} VALIDATION when the reference is not 1 to 128 printable ASCII characters.
   * @throws {TssError} TOO_MANY_DEPOSIT_REFERENCES when the project may have no further reference.
   * @throws {TssError} DEPOSIT_ADDRESS_PENDING when the address is new and not made yet.
   *
   * @example
   * const { address } = await client.depositAddress({ reference: "user-42" });
   */
  depositAddress(
    args?: { readonly reference?: string | undefined },
    options?: RequestOptions,
  ): Promise<GetDepositAddressResponse>;
  /**
   * Lists the project's deposit addresses that have a reference, in the order of the references, with the sums of the
   * deposits to each: all, the one of a reference, or those whose reference begins with a prefix.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   *
   * @example
   * for await (const { reference, creditedMicroUsd } of client.listDepositAddresses())
   *   console.log(reference, creditedMicroUsd);
   */
  listDepositAddresses(
    args?: ListDepositAddressesArgs,
    options?: RequestOptions,
  ): AsyncIterable<PaidDepositAddress>;
  /**
   * Asks the service to check a transaction for deposits now. The service also finds deposits without this call, but
   * later.
   *
   * @throws {TssError} VALIDATION when the digest is malformed.
   * @throws {TssError} DEPOSIT_NOT_FOUND when the fullnode knows no deposit to the project in this transaction; a new
   *   one may take a few seconds to appear.
   * @throws {TssError} DEPOSIT_TAKEN when the transaction paid to another project.
   *
   * @example
   * const deposits = await client.declareDeposit({ txDigest });
   */
  declareDeposit(args: { readonly txDigest: string }, options?: RequestOptions): Promise<readonly Deposit[]>;
  /**
   * Lists the project's deposits: all, or those in one state or to one reference.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   *
   * @example
   * for await (const deposit of client.listDeposits()) console.log(deposit);
   */
  listDeposits(args?: ListDepositsArgs, options?: RequestOptions): AsyncIterable<Deposit>;
}

function usageRequest({ step = "day", start, end, userReference }: UsageArgs = {}) {
  return {
    step: GetUsageRequest_Step[step],
    ...windowOf({ start, end }),
    ...(userReference !== undefined && { userReference }),
  };
}

function windowOf({ start, end }: UsageWindow) {
  return {
    ...(start && { startTime: timestampFromDate(start) }),
    ...(end && { endTime: timestampFromDate(end) }),
  };
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
  /** Only the signatures and dWallets of this user. Default: the whole project. */
  readonly userReference?: string | undefined;
}

/** Arguments of `listUserUsage`. */
export interface ListUserUsageArgs extends ListArgs, UsageWindow {}

/** A window of time. */
interface UsageWindow {
  /** Default: 30 days before its end. */
  readonly start?: Date | undefined;
  /** Default: now. */
  readonly end?: Date | undefined;
}

/** Arguments of `listDeposits`. */
export interface ListDepositsArgs extends ListArgs {
  readonly state?: Deposit_State | undefined;
  readonly reference?: string | undefined;
}
