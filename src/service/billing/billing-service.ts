import { create } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type Billing,
  type GetPricingResponse,
  GetPricingResponseSchema,
  GetUsageRequest_Step,
} from "../../../gen/proto/tss/v1/billing_pb.ts";
import { SignatureAlgorithm } from "../../../gen/proto/tss/v1/types_pb.ts";
import { CURVE_ALGORITHMS } from "../../protocol/algorithms.ts";
import { INCLUDED_MESSAGE_BYTES, type PriceTable, signPrice } from "../../protocol/price-table.ts";
import { callerOf } from "../access/caller.ts";
import { announceEvents } from "../events/event.ts";
import { setLowBalance } from "../ledger/project-warnings.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import type { Clock } from "../platform/lifecycle/clock.ts";
import type { Database } from "../platform/store/database.ts";
import { waitingValue } from "./deposits/credit-deposits.ts";
import { declareDeposit } from "./deposits/declare-deposit.ts";
import { depositAddress } from "./deposits/deposit-address.ts";
import type { Deposits } from "./deposits/deposits.ts";
import { listDepositAddresses } from "./deposits/list-deposit-addresses.ts";
import { depositStateOf, encodeDeposit, encodeDepositCoin, listDeposits } from "./deposits/list-deposits.ts";
import { encodeLedgerEntry, listLedgerEntries } from "./ledger-entries.ts";
import { encodeUserUsage, listUserUsage } from "./list-user-usage.ts";
import { encodeUsage, readUsage, usageWindow } from "./read-usage.ts";

/** Implements `tss.v1.Billing`. */
export function createBillingService(deps: BillingServiceDeps): ServiceImpl<typeof Billing> {
  const { database, signals, prices, clock } = deps;
  const taken = (): Deposits => {
    if (deps.deposits !== undefined) return deps.deposits;
    throw new ServiceError("DEPOSITS_DISABLED", "this service accepts no deposits");
  };
  return {
    async getBalance(_request, context) {
      const { projectId } = callerOf(context, "project");
      const { lowBalanceMicroUsd, ...balance } = await database.prisma.project.findUniqueOrThrow({
        where: { id: projectId },
        select: { balanceMicroUsd: true, heldMicroUsd: true, lowBalanceMicroUsd: true },
      });
      return { ...balance, ...(lowBalanceMicroUsd !== null && { lowBalanceMicroUsd }) };
    },
    async setLowBalance({ lowBalanceMicroUsd }, context) {
      const caller = callerOf(context, "project");
      if (await setLowBalance(database, caller, lowBalanceMicroUsd))
        announceEvents(signals, caller.projectId);
      return {};
    },
    async getPricing() {
      return encodePricing(prices);
    },
    async listLedgerEntries(request, context) {
      const { projectId } = callerOf(context, "project");
      const { rows, nextPageToken } = await listLedgerEntries(database, projectId, request);
      return { ledgerEntries: rows.map(encodeLedgerEntry), nextPageToken };
    },
    async getUsage({ step, startTime, endTime, userReference }, context) {
      const { projectId } = callerOf(context, "project");
      const start = startTime && timestampDate(startTime);
      const end = endTime && timestampDate(endTime);
      const name = step === GetUsageRequest_Step.hour ? "hour" : "day";
      const window = usageWindow({ start, end, step: name }, new Date(clock.wallMs()));
      return encodeUsage(window, await readUsage(database, projectId, window, userReference));
    },
    async listUserUsage({ startTime, endTime, pageSize, pageToken }, context) {
      const { projectId } = callerOf(context, "project");
      const window = { start: startTime && timestampDate(startTime), end: endTime && timestampDate(endTime) };
      const now = new Date(clock.wallMs());
      return encodeUserUsage(
        await listUserUsage(database, projectId, { ...window, pageSize, pageToken }, now),
      );
    },
    async getDepositAddress({ reference }, context) {
      const { projectId } = callerOf(context, "project");
      const deposits = taken();
      const { network, coins, prices, minimumMicroUsd: minimumDepositMicroUsd } = deposits;
      return {
        address: await depositAddress(deposits, { projectId, reference: reference ?? "" }),
        ...(reference !== undefined && { reference }),
        network,
        coins: coins.map((coin) => encodeDepositCoin(coin, prices.priceOf(coin.coinType))),
        minimumDepositMicroUsd,
        waitingMicroUsd: await waitingValue(database, deposits, projectId),
      };
    },
    async listDepositAddresses(request, context) {
      const { projectId } = callerOf(context, "project");
      const { rows, nextPageToken } = await listDepositAddresses(database, projectId, request);
      return { depositAddresses: [...rows], nextPageToken };
    },
    async declareDeposit({ txDigest }, context) {
      const rows = await declareDeposit(taken(), callerOf(context, "project"), txDigest);
      return { deposits: rows.map(encodeDeposit) };
    },
    async listDeposits({ state, ...request }, context) {
      const { projectId } = callerOf(context, "project");
      const input = { ...request, state: depositStateOf(state) };
      const { rows, nextPageToken } = await listDeposits(database, projectId, input);
      return { deposits: rows.map(encodeDeposit), nextPageToken };
    },
  };
}

interface BillingServiceDeps {
  readonly database: Database;
  readonly signals: Signals;
  readonly prices: PriceTable;
  readonly clock: Pick<Clock, "wallMs">;
  /** Undefined if the service accepts no deposits. */
  readonly deposits?: Deposits | undefined;
}

/** Encodes the whole price table. */
function encodePricing(table: PriceTable): GetPricingResponse {
  return create(GetPricingResponseSchema, {
    signPriceMicroUsd: table.signMicroUsd,
    signPrices: CURVE_ALGORITHMS.map(({ signatureAlgorithm }) => ({
      signatureAlgorithm: SignatureAlgorithm[signatureAlgorithm],
      priceMicroUsd: signPrice(table, signatureAlgorithm),
    })),
    includedMessageBytes: INCLUDED_MESSAGE_BYTES,
    messageKibPriceMicroUsd: table.messageKibMicroUsd,
    dkgPriceMicroUsd: table.dkgMicroUsd,
    sharePriceMicroUsd: table.shareMicroUsd,
    importPriceMicroUsd: table.importMicroUsd,
    holdPriceMicroUsd: table.holdMicroUsd,
  });
}
